// A unit of systemd.

import { type Deployment, unitName } from './deployment.ts'

export function systemdUnit(of: Deployment): string {
  const name = `eider-${unitName(of)}.service`
  const ports = [of.collectPort, of.odataPort].filter((port) => port !== null)
  const isPrivileged = ports.some((port) => port > 0 && port < 1024)
  const capabilities = isPrivileged ? 'CAP_NET_BIND_SERVICE' : ''
  return `# /etc/systemd/system/${name}
#   eider up --print systemd | sudo tee /etc/systemd/system/${name}
#   sudo systemctl daemon-reload && sudo systemctl enable --now ${name}

[Unit]
Description=${specifiers(`eider up: ${unitName(of)}`)}
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
User=${of.user}
WorkingDirectory=${specifiers(of.dir)}
ExecStart=${of.command.map(argument).join(' ')}
Restart=always
RestartSec=5
# SIGTERM goes to eider up, which ends its children in order.
KillMode=mixed
TimeoutStopSec=60
UMask=0027

# It writes to these directories and nowhere else.
ProtectSystem=strict
ReadWritePaths=${of.writable.map(path).join(' ')}
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
CapabilityBoundingSet=${capabilities}
AmbientCapabilities=${capabilities}
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`
}

/** `%` begins a specifier in all values. */
const specifiers = (text: string) => text.replaceAll('%', '%%')

const PLAIN = /^[A-Za-z0-9_./:@=,+-]+$/

/** A word of a list of paths. */
function path(text: string): string {
  if (PLAIN.test(text)) return text
  return specifiers(`"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`)
}

/** In a command line variables are replaced too. */
const argument = (text: string): string => path(text).replaceAll('$', '$$$$')
