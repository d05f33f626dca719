// Events of OpenLineage as tests read them, and what the client of that project says of them.

import { pythonTests, runPython } from './python.ts'

export interface LineageEvent {
  readonly eventType: string
  readonly eventTime: string
  readonly run: { readonly runId: string; readonly facets: Facets }
  readonly job: { readonly namespace: string; readonly name: string; readonly facets: Facets }
  readonly inputs: readonly Dataset[]
  readonly outputs: readonly Dataset[]
}

interface Dataset {
  readonly namespace: string
  readonly name: string
  readonly facets?: Facets
  readonly outputFacets?: Facets
}

type Facets = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export const eventsIn = (lines: string): readonly LineageEvent[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LineageEvent)

/** Types and job, in their order. */
export const told = (events: readonly LineageEvent[]): readonly string[] =>
  events.map(({ eventType, job }) => `${eventType} ${job.name}`)

export const clientTest = pythonTests(['openlineage.client'])

// The classes of the client are made of the JSON schemas of the specification: each has its members, those that must be
// there, their types, and the address of its schema.
const JUDGE = `
import importlib, json, pkgutil, sys, types, typing, enum, uuid
import attr
import openlineage.client.generated as generated
from openlineage.client.generated import base

modules = [importlib.import_module(f'{generated.__name__}.{m.name}') for m in pkgutil.iter_modules(generated.__path__)]
classes = {}
for module in modules:
  for thing in vars(module).values():
    if isinstance(thing, type) and hasattr(thing, '_get_schema'):
      classes[thing._get_schema()] = thing

def hints(cls):
  found = {}
  for one in reversed(cls.__mro__):
    scope = vars(sys.modules.get(one.__module__, object))
    for name, text in vars(one).get('__annotations__', {}).items():
      if 'ClassVar' in str(text): continue
      found[name] = eval(text, dict(scope)) if isinstance(text, str) else text
  return found

def judge(value, type_, at, facets):
  origin, inner = typing.get_origin(type_), typing.get_args(type_)
  if origin in (types.UnionType, typing.Union):
    if value is None: return None
    return judge(value, [one for one in inner if one is not type(None)][0], at, facets)
  if type_ is typing.Any: return
  if origin is list:
    assert isinstance(value, list), at
    for i, item in enumerate(value): judge(item, inner[0], f'{at}[{i}]', facets)
  elif origin is dict:
    assert isinstance(value, dict), at
    for key, item in value.items(): judge(item, inner[1], f'{at}.{key}', facets)
  elif isinstance(type_, type) and issubclass(type_, enum.Enum): type_(value)
  elif isinstance(type_, type) and attr.has(type_): judge_object(value, type_, at, facets)
  else: assert isinstance(value, type_) and not (type_ is int and isinstance(value, bool)), f'{at}: {value!r} is no {type_}'

def judge_object(value, cls, at, facets):
  assert isinstance(value, dict), at
  if issubclass(cls, base.BaseFacet):
    named = classes.get(value['_schemaURL'])
    assert named is not None and issubclass(named, cls), f'{at}: {value["_schemaURL"]} is no facet for here'
    cls = named
    facets.add(cls.__name__)
    assert value['_producer'].startswith('https://'), at
  of = hints(cls)
  for field in attr.fields(cls):
    name, must = field.name, field.default is attr.NOTHING
    assert name in value or not must, f'{at}.{name} is missing'
    if name in value: judge(value[name], of[name], f'{at}.{name}', facets)
  unknown = set(value) - {field.name for field in attr.fields(cls)}
  assert not unknown, f'{at} has {unknown}'

count, facets = 0, set()
for line in open(sys.argv[1]):
  event = json.loads(line)
  assert event['schemaURL'] == base.RunEvent._get_schema(), event['schemaURL']
  judge_object(event, base.RunEvent, '$', facets)
  uuid.UUID(event['run']['runId'])
  base.RunEvent(eventTime=event['eventTime'], producer=event['producer'], eventType=base.EventType(event['eventType']),
    run=base.Run(runId=event['run']['runId']), job=base.Job(namespace='a', name='b'))
  count += 1
print(json.dumps({'events': count, 'facets': sorted(facets)}))
`

/** Throws what is wrong in a file of events. */
export async function judgeEvents(
  path: string,
): Promise<{ readonly events: number; readonly facets: readonly string[] }> {
  return JSON.parse(await runPython(JUDGE, [path])) as {
    readonly events: number
    readonly facets: readonly string[]
  }
}
