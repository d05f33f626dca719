// A client in Python: one file that needs nothing but Python 3.9.

import {
  type ClientModel,
  type ClientProperty,
  type ClientType,
  isPlace,
  keysText,
  readMetadata,
} from './metadata.ts'

const RESERVED = [
  'Client',
  'ODataError',
  'Any',
  'Decimal',
  'Exception',
  'False',
  'HTTPError',
  'Dict',
  'Iterator',
  'List',
  'Literal',
  'None',
  'Optional',
  'Request',
  'Sequence',
  'True',
  'TypedDict',
  'Union',
  'ValueError',
]

/** `source` says where the metadata comes from. */
export function pythonClient(metadata: string, source: string): string {
  const model = readMetadata(metadata, RESERVED)
  const { sets } = model
  const measured = sets.flatMap((set) => (set.measures === null ? [] : [groupsOf(set)]))
  const types = [...model.types, ...measured.map(({ row }) => row)]
  const rowTypes = measured.map(({ name, row }) => [name, row.name])
  return [
    `# Made by "eider client python" from ${source}. Make it again when the sets change.`,
    HEAD,
    ...types.flatMap(typeLines),
    `_TYPES: dict = ${conversions(types)}`,
    `_SETS: dict = ${JSON.stringify(Object.fromEntries(sets.map(({ name, type }) => [name, type.name])))}`,
    `_MEASURES: dict = ${JSON.stringify(Object.fromEntries(rowTypes))}`,
    `_KEYS: dict = ${keysText(sets)}`,
    '',
    BEFORE_ROWS,
    ...(sets.length > 1 ? sets.flatMap(overloads) : []),
    ROWS,
    ...measured.flatMap(({ overload }) => overload),
    ...(measured.length > 0 ? [BY_TEXT] : []),
    AGGREGATE,
  ].join('\n')
}

/** Of a set with measures: a row with its groups and measures, and how it is asked for. */
function groupsOf({ name, type, measures }: ClientModel['sets'][number]) {
  const { properties: totals } = measures!
  const names = totals.map((one) => one.name)
  const groups = type.properties.filter((one) => !one.isRelated && !names.includes(one.name))
  const row = { ...measures!, properties: [...groups, ...totals] }
  const oneOf = (of: readonly ClientProperty[]) =>
    `Sequence[Literal[${of.map((one) => JSON.stringify(one.name)).join(', ')}]]`
  const by = oneOf(type.properties.filter((one) => !one.isRelated))
  const overload = [
    '    @overload',
    '    def aggregate(',
    `        self, set: Literal["${name}"], *, measures: ${oneOf(totals)}, by: ${by} = ..., **query: Any`,
    `    ) -> Iterator[${row.name}]: ...`,
  ]
  return { name, row, overload }
}

function typeLines({ name, description, properties }: ClientType): readonly string[] {
  const members = properties.flatMap((property) => [
    ...(property.description === null ? [] : [`        # ${property.description}`]),
    `        ${JSON.stringify(property.name)}: ${valueType(property)},`,
  ])
  return [
    ...(description === null ? [] : [`# ${description}`]),
    `${name} = TypedDict(`,
    `    "${name}",`,
    '    {',
    ...members,
    '    },',
    '    total=False,',
    ')',
    '',
  ]
}

function valueType({ type, many, nullable }: ClientProperty): string {
  const one = isPlace(type)
    ? 'Dict[str, Any]'
    : (PLAIN[type] ?? (type.startsWith('Edm.') ? 'str' : `"${type}"`))
  if (many) return `List[Optional[${one}]]`
  return nullable ? `Optional[${one}]` : one
}

/** All others are texts. */
const PLAIN: Readonly<Record<string, string>> = {
  'Edm.Boolean': 'bool',
  'Edm.Byte': 'int',
  'Edm.Decimal': 'Decimal',
  'Edm.Double': 'float',
  'Edm.Int16': 'int',
  'Edm.Int32': 'int',
  'Edm.Int64': 'int',
  'Edm.SByte': 'int',
  'Edm.Single': 'float',
}

/** What JSON does not tell: which numbers are floats and which are decimals, and what lies within. */
const conversions = (types: readonly ClientType[]) =>
  JSON.stringify(
    Object.fromEntries(
      types.map(({ name, properties }) => [
        name,
        Object.fromEntries(
          properties
            .map((property) => [property.name, conversionOf(property.type)] as const)
            .filter(([, type]) => type !== null),
        ),
      ]),
    ),
  )

function conversionOf(type: string): string | null {
  if (!type.startsWith('Edm.')) return type
  const plain = PLAIN[type]
  return plain === 'float' || plain === 'Decimal' ? plain : null
}

const overloads = ({ name, type }: ClientModel['sets'][number]) => [
  '    @overload',
  `    def rows(self, set: Literal["${name}"], **query: Any) -> Iterator[${type.name}]: ...`,
]

const HEAD = `
import json
from decimal import Decimal
from typing import Any, Dict, Iterator, List, Literal, Optional, Sequence, TypedDict, overload
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen
`

const BEFORE_ROWS = `
class ODataError(Exception):
    """A request that the service has refused."""

    def __init__(self, status: int, code: str, message: str):
        super().__init__(message)
        self.status = status
        self.code = code


class Client:
    """The root of the service, such as http://127.0.0.1:8090/odata."""

    def __init__(self, url: str, token: Optional[str] = None):
        self._url = url.rstrip("/")
        self._token = token
`

const ROWS = `    def rows(self, set: str, **query: Any) -> Iterator[Any]:
        """All rows, page by page, of one published state. select is a list of names; filter, orderby, top, skip,
        search and expand are as in OData."""
        return self._pages(quote(set) + _query(query), _SETS[set])
`

const BY_TEXT = `    @overload
    def aggregate(self, set: str, apply: str, **query: Any) -> Iterator[dict]: ...`

const AGGREGATE = `    def aggregate(
        self, set: str, apply: Optional[str] = None, *, measures: Sequence[str] = (), by: Sequence[str] = (), **query: Any
    ) -> Iterator[Any]:
        """Measures by the values of properties: filter is of the rows that are added up, orderby, top and skip are of
        what they come to. Or what $apply makes of a set, where numbers with a fraction are Decimal."""
        if apply is not None:
            return self._pages(quote(set) + _query({"apply": apply, **query}), None)
        apply = f"aggregate({','.join(measures)})"
        if by:
            apply = f"groupby(({','.join(by)}),{apply})"
        if "filter" in query:
            apply = f"filter({query.pop('filter')})/{apply}"
        return self._pages(quote(set) + _query({"apply": apply, **query}), _MEASURES.get(set))

    def get(self, set: str, key: Any, **query: Any) -> Any:
        """The row with the key, a dict of all of its parts where there are several; None where there is none."""
        try:
            answer = self._ask(f"{self._url}/{quote(set)}({_key(set, key)}){_query(query)}")
        except ODataError as error:
            if error.code == "entity-not-found":
                return None
            raise
        return _converted(json.loads(answer, parse_float=Decimal), _SETS[set])

    def count(self, set: str, **query: Any) -> int:
        return int(self._ask(f"{self._url}/{quote(set)}/$count{_query(query)}"))

    def _pages(self, target: str, type_name: Optional[str]) -> Iterator[Any]:
        url = f"{self._url}/{target}"
        while url is not None:
            page = json.loads(self._ask(url), parse_float=Decimal)
            for row in page["value"]:
                yield _converted(row, type_name)
            url = page.get("@odata.nextLink")

    def _ask(self, url: str) -> str:
        headers = {"Accept": "application/json;odata.metadata=none, text/plain"}
        if self._token is not None:
            headers["Authorization"] = "Bearer " + self._token
        try:
            with urlopen(Request(url, headers=headers)) as answer:
                return answer.read().decode("utf-8-sig")
        except HTTPError as refused:
            text = refused.read().decode("utf-8", "replace")
            try:
                error = json.loads(text)["error"]
            except (ValueError, KeyError, TypeError):
                error = {"code": "unknown", "message": text}
            raise ODataError(refused.code, error["code"], error["message"]) from None


def _converted(value: Any, type_name: Optional[str]) -> Any:
    if value is None or type_name is None:
        return value
    if isinstance(value, list):
        return [_converted(item, type_name) for item in value]
    if type_name == "float":
        return float(value)
    if type_name == "Decimal":
        return Decimal(value)
    types = _TYPES[type_name]
    return {name: _converted(item, types.get(name)) for name, item in value.items()}


def _query(query: dict) -> str:
    parts = []
    for name, value in query.items():
        text = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
        parts.append(f"\${name}={quote(text, safe='')}")
    return "?" + "&".join(parts) if parts else ""


def _key(set: str, key: Any) -> str:
    def literal(type_name: str, value: Any) -> str:
        text = str(value)
        if type_name == "Edm.String":
            text = "'" + text.replace("'", "''") + "'"
        elif type_name == "Edm.Duration":
            text = f"duration'{text}'"
        elif type_name == "Edm.Binary":
            text = f"binary'{text}'"
        elif type_name == "Edm.Boolean":
            text = text.lower()
        return quote(text, safe="")

    parts = _KEYS[set]
    if len(parts) == 1:
        return literal(parts[0][1], key)
    return ",".join(f"{quote(name)}={literal(type_name, key[name])}" for name, type_name in parts)
`
