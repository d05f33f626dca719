// Hover, definition and references, at a place of a file.

import { type Hover, type Location, MarkupKind, type Position } from 'vscode-languageserver/node'
import type { LastCompile } from './edited-project.ts'
import { describeAnnotation, describeThing } from './hover.ts'
import { allMentions, definitionOf, isSameThing, type Place, type Thing, thingAt } from './names.ts'
import type { OpenFile } from './open-projects.ts'
import { offsetAt, rangeOf } from './positions.ts'
import { describeSetting } from './settings.ts'

type Locate = (place: Place) => Location

export async function hoverAt(file: OpenFile, position: Position): Promise<Hover | null> {
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
  return { ...described, range: rangeOf({ path: file.path, text }, found.thing.span) }
}

export async function definitionAt(
  file: OpenFile,
  position: Position,
  locate: Locate,
): Promise<Location | null> {
  const found = await thingIn(file, await offsetIn(file, position))
  const place = found === null ? null : definitionOf(found.understood, found.thing)
  return place === null ? null : locate(place)
}

export async function referencesAt(
  file: OpenFile,
  position: Position,
  locate: Locate,
  includeDeclaration: boolean,
): Promise<readonly Location[]> {
  const found = await thingIn(file, await offsetIn(file, position))
  if (found === null) return []
  const places: Place[] = allMentions(found.understood).filter((mention) =>
    isSameThing(mention, found.thing),
  )
  const own = includeDeclaration ? definitionOf(found.understood, found.thing) : null
  return [...(own === null ? [] : [own]), ...places].map(locate)
}

const offsetIn = async ({ project, path }: OpenFile, position: Position) =>
  offsetAt((await project.read(path)) ?? '', position)

async function thingIn(
  { project, path }: OpenFile,
  offset: number,
): Promise<{
  readonly understood: LastCompile
  readonly thing: Thing & Pick<Place, 'span'>
} | null> {
  const understood = await project.fresh()
  const thing = understood === null ? null : thingAt(understood, path, offset)
  return thing === null ? null : { understood: understood!, thing }
}
