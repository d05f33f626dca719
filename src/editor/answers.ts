// Hover, definition and references, at a place of a file.

import { type Hover, type Location, MarkupKind, type Position } from 'vscode-languageserver/node'
import { describeAnnotation, describeThing } from './hover.ts'
import type { FilePlace } from '../core/source-text.ts'
import { allMentions, placeOf, isSameThing, thingAt } from './names.ts'
import type { EditorFile } from './open-projects.ts'
import { offsetAt, lspRange } from './positions.ts'
import { describeSetting } from './settings.ts'

type Locate = (place: FilePlace) => Location

export async function hoverAt(file: EditorFile, position: Position): Promise<Hover | null> {
  const text = await file.project.read(file.path)
  if (text === null) return null
  const offset = offsetAt(text, position)
  const markdown = (value: string | null) =>
    value === null ? null : { contents: { kind: MarkupKind.Markdown, value } }
  if (file.path === 'eider.yml') return markdown(describeSetting(text, offset))
  const found = await thingIn(file, offset)
  if (found === null) return markdown(describeAnnotation(text, offset))
  const described = markdown(describeThing(found.understood, found.thing))
  if (described === null) return null
  return { ...described, range: lspRange({ path: file.path, text }, found.thing.span) }
}

export async function definitionAt(
  file: EditorFile,
  position: Position,
  locate: Locate,
): Promise<Location | null> {
  const found = await thingIn(file, await offsetIn(file, position))
  const place = found && placeOf(found.understood, found.thing)
  return place && locate(place)
}

export async function referencesAt(
  file: EditorFile,
  position: Position,
  locate: Locate,
  includeDeclaration: boolean,
): Promise<Location[]> {
  const found = await thingIn(file, await offsetIn(file, position))
  if (found === null) return []
  const { understood, thing } = found
  const places = allMentions(understood).filter((mention) => isSameThing(mention, thing))
  const own = includeDeclaration ? placeOf(understood, thing) : null
  return [...(own === null ? [] : [own]), ...places].map(locate)
}

const offsetIn = async ({ project, path }: EditorFile, position: Position) =>
  offsetAt((await project.read(path)) ?? '', position)

async function thingIn({ project, path }: EditorFile, offset: number) {
  const understood = await project.fresh()
  const thing = understood && thingAt(understood, path, offset)
  return understood && thing && { understood, thing }
}
