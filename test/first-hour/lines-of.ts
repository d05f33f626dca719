// What an answer says, without what differs from run to run.

import { userInfo } from 'node:os'

const user = process.getuid?.() === 0 ? 'nobody' : userInfo().username

/** Lines without indentation, without excerpts of source lines and their carets; no blank ones. */
export const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^ {2}[\d ]+\|/.test(line))
    .map(withoutTimes)

const withoutTimes = (line: string): string =>
  line
    .trim()
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z +/, '')
    .replaceAll(/ {2,}/g, ' ')
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, '<time>')
    .replaceAll(/\b(published|snapshot) [0-9a-f]{16}\b/g, '$1 <id>')
    .replaceAll(new RegExp(`\\b(by|user) ${user}\\b`, 'g'), '$1 <user>')
