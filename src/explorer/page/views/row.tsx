import { filterOfKey, keyOf } from '../address/key.ts'
import { writeOptions } from '../address/options.ts'
import {
  type EntitySet,
  type Navigation,
  navigationOf,
  type Property,
  relatedRows,
  type Row,
  textOf,
  type Value,
} from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { CopyButton, RequestBar, RequestList } from '../parts/request-bar.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'
import { ProblemNote } from '../parts/problem.tsx'
import { askObject, askText, useAnswer } from '../parts/use-answer.ts'
import { usePage, type ViewProps } from '../page.ts'
import { shownCell } from '../rows/columns.ts'
import { rowRequest } from '../rows/requests.ts'
import { useRowsContext } from '../rows/rows-context.ts'
import { ConnectRegion, ToolButtons } from '../recipes/recipe-text.tsx'
import { PropertyList, WholeValue } from '../rows/value-dialog.tsx'
import './row.css'

/** One row: all its properties with what they mean, and what belongs to it. */
export function RowView({ route }: ViewProps<'row'>) {
  const page = usePage()
  const set = page.schema.set(route.set)!
  const ones = set.navigations.filter(({ isMany }) => !isMany).map(({ name }) => name)
  const expand = ones.length === 0 ? [] : [['$expand', ones.join(',')] as const]
  const request = rowRequest(route.set, route.key, new Map(expand))
  const answer = useAnswer(request, askObject)
  const asSet = new Map([['$filter', filterOfKey(set, route.key)], ...expand])
  const context = useRowsContext(set, writeOptions(asSet))
  return (
    <>
      <header class="set-header">
        <p>
          <Link to={{ view: 'rows', set: set.name, query: '' }}>{set.name}</Link>
        </p>
        <h1 tabIndex={-1}>
          <bdi>
            {set.name}({route.key})
          </bdi>
        </h1>
      </header>
      <RequestBar request={request}>
        <ToolButtons context={context} />
      </RequestBar>
      <ConnectRegion context={context} />
      {answer.state === 'failed' && answer.error.status === 404 && (
        <p role="alert">There is no row with this key. {answer.error.message}</p>
      )}
      {answer.state === 'failed' && answer.error.status !== 404 && <ProblemNote {...answer} />}
      {answer.state === 'here' && (
        <div class="row-view">
          <Properties set={set} row={answer.value} />
          <Relations set={set} row={answer.value} keyText={route.key} />
        </div>
      )}
    </>
  )
}

interface PartProps {
  readonly set: EntitySet
  readonly row: Row
}

function Properties({ set, row }: PartProps) {
  return (
    <DataTable
      name="Properties"
      rows={set.properties}
      keyOf={({ name }) => name}
      columns={[
        {
          name: 'Property',
          isHead: true,
          cell: ({ name, description }) => (
            <>
              <bdi>{name}</bdi>
              {description !== undefined && <p class="about">{description}</p>}
            </>
          ),
        },
        {
          name: 'Value',
          cell: (property) => (
            <PropertyValue set={set} property={property} value={row[property.name]} />
          ),
        },
        {
          name: 'Copy',
          cell: ({ name }) => <CopyButton text={textOf(row[name])} name={`Copy ${name}`} />,
        },
      ]}
    />
  )
}

interface PropertyValueProps {
  readonly set: EntitySet
  readonly property: Property
  readonly value: Value | undefined
}

function PropertyValue({ set, property, value = null }: PropertyValueProps) {
  const { schema } = usePage()
  const navigation = navigationOf(set, property.name)
  const { text, kind, title } = shownCell(value, property)
  const target = navigation && schema.set(navigation.target)
  const key = target && keyOf(target, { [target.key[0] ?? '']: value })
  if (target !== undefined && key !== undefined) {
    return (
      <Link to={{ view: 'row', set: target.name, key, query: '' }}>
        <bdi>{text}</bdi>
      </Link>
    )
  }
  const isShort = kind !== 'structure' && kind !== 'empty' && textOf(value).length <= 160
  if (!isShort) return <WholeValue value={value} edm={property.edm} />
  return (
    <bdi class={`value-${kind}`} title={title}>
      {text}
    </bdi>
  )
}

function Relations({ set, row, keyText }: PartProps & { readonly keyText: string }) {
  const ones = set.navigations.filter(({ isMany }) => !isMany)
  const many = set.navigations.filter(({ isMany }) => isMany)
  if (ones.length + many.length === 0) return null
  return (
    <aside class="relations" aria-label="Relations">
      {many.length > 0 && (
        <ul class="relations-many">
          {many.map((navigation) => (
            <li key={navigation.name}>
              <Many set={set} row={row} keyText={keyText} navigation={navigation} />
            </li>
          ))}
        </ul>
      )}
      {ones.map((navigation) => (
        <One key={navigation.name} navigation={navigation} value={row[navigation.name]} />
      ))}
      {many.length > 0 && (
        <RequestList
          requests={many.map(({ name }) => ({
            what: `Number of ${name}`,
            request: countOf(set, keyText, name),
          }))}
        />
      )}
    </aside>
  )
}

/** A related row as it came along, without another request. */
function One({ navigation, value }: { navigation: Navigation; value: Value | undefined }) {
  const target = usePage().schema.set(navigation.target)
  if (target === undefined) return null
  const related = typeof value === 'object' && value !== null ? (value as Row) : null
  const key = related === null ? undefined : keyOf(target, related)
  return (
    <section class="relation" aria-label={navigation.name}>
      <h2>
        {key === undefined ? (
          navigation.name
        ) : (
          <Link to={{ view: 'row', set: target.name, key, query: '' }}>{navigation.name}</Link>
        )}
      </h2>
      {related === null ? (
        <p class="about">none</p>
      ) : (
        <PropertyList properties={target.properties} row={related} />
      )}
    </section>
  )
}

const countOf = (set: EntitySet, keyText: string, navigation: string) =>
  `${rowRequest(set.name, keyText)}/${navigation}/$count`

function Many({
  set,
  row,
  keyText,
  navigation,
}: PartProps & { readonly keyText: string; readonly navigation: Navigation }) {
  const request = countOf(set, keyText, navigation.name)
  const answer = useAnswer(request, askText, 'last')
  const route = relatedRows(usePage().schema, set, navigation, row)
  const count = answer.state === 'here' ? groupDigits(answer.value) : '…'
  if (answer.state === 'failed') return <ProblemNote {...answer} />
  const text = (
    <>
      <strong>{count}</strong> {navigation.name}
    </>
  )
  return <p class="relation">{route === undefined ? text : <Link to={route}>{text}</Link>}</p>
}
