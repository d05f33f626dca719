// A property list of launchd, for the agent of a user.

import { join } from 'node:path'
import { type Deployment, unitName } from './deployment.ts'

export function launchdPlist(of: Deployment): string {
  const label = `eider.${unitName(of)}`
  const log = escaped(join(of.dir, '.eider', 'up.log'))
  const words = of.command.map((word) => `    <string>${escaped(word)}</string>`).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Save it in ~/Library/LaunchAgents, then: launchctl bootstrap gui/$(id -u) FILE -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>WorkingDirectory</key>
  <string>${escaped(of.dir)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>Umask</key>
  <integer>23</integer>
  <key>StandardOutPath</key>
  <string>${log}</string>
  <key>StandardErrorPath</key>
  <string>${log}</string>
</dict>
</plist>
`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const escaped = (text: string) => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!)
