// Makes the data of this project: two seed files, and two files of events that are named after their tables.
//
//   node example-project/make-data.js
//
// The same bytes come out on every machine: one seeded generator, and whole-number arithmetic only.
// The events carry what real senders do: retries (an event sent twice), late arrivals, anonymous visitors.

import { mkdirSync, writeFileSync } from 'node:fs'

const CUSTOMERS = 300
const ORDERS = 900
const SESSIONS = 1500
const FIRST_DAY = Date.UTC(2026, 0, 1)
const DAYS = 90
const END = FIRST_DAY + DAYS * 86_400_000

const random = mulberry32(20260101)
const integer = (from, to) => from + Math.floor((random() * (to - from + 1)) / 2 ** 32)
const chance = (percent) => integer(1, 100) <= percent
const pick = (list) => list[integer(0, list.length - 1)]
const hours = (count) => count * 3_600_000
const time = (ms) => new Date(ms).toISOString()
const day = (ms) => time(ms).slice(0, 10)

const products = makeProducts()
const customers = makeCustomers()
const orderEvents = makeOrderEvents()
const pageViews = makePageViews()

writeCsv('seeds/ref/products.csv', products)
writeCsv('seeds/ref/customers.csv', customers)
writeNdjson('events/raw.orders.ndjson', orderEvents)
writeNdjson('events/raw.page_views.ndjson', pageViews)

function makeProducts() {
  const ranges = [
    { category: 'Jackets', noun: 'Jacket', from: 12_900, to: 48_900 },
    { category: 'Sleeping bags', noun: 'Sleeping Bag', from: 14_900, to: 59_900 },
    { category: 'Duvets', noun: 'Duvet', from: 9_900, to: 89_900 },
    { category: 'Pillows', noun: 'Pillow', from: 2_900, to: 14_900 },
    { category: 'Tents', noun: 'Tent', from: 19_900, to: 74_900 },
    { category: 'Backpacks', noun: 'Pack', from: 5_900, to: 27_900 },
    { category: 'Stoves', noun: 'Stove', from: 3_900, to: 18_900 },
    { category: 'Socks & gloves', noun: 'Socks', from: 900, to: 4_900 },
  ]
  const lines = ['Skerry', 'Fjord', '100% Down', 'Tundra "Pro"', 'Øresund']
  const sizes = ['Light', 'Classic']
  return ranges.flatMap(({ category, noun, from, to }, r) =>
    lines.flatMap((line, l) =>
      sizes.map((size, s) => ({
        product_id: 1 + r * 10 + l * 2 + s,
        name: `${line} ${noun} ${size}`,
        category,
        price: euros(Math.floor(integer(from, to) / 500) * 500 + 490),
        weight_g: chance(90) ? integer(6, 240) * 10 : '',
        launched_on: day(FIRST_DAY - integer(30, 900) * 86_400_000),
        discontinued: chance(5),
      })),
    ),
  )
}

function makeCustomers() {
  const first =
    'Ada Björn Chiara Dmitri Elif Fionn Grete Hugo Inés Jonas Kaja Liam Maja Noor Ole Piotr Quinn Rosa Sanna Tariq Unni Vera Wim Yara Zoë'
  const last =
    "Andersen|Bauer|Côté|D'Angelo|Eriksson|Fischer|García|Haugen|Ivanov|Jansen|Kowalski|Lindqvist|Müller|Nygård|O'Brien|Petrov|Rossi|Şahin|Tamm|van der Berg|Weber|Ziegler"
  const places = [
    ['Oslo', 'NO'],
    ['Bergen', 'NO'],
    ['København', 'DK'],
    ['Stockholm', 'SE'],
    ['Helsinki', 'FI'],
    ['Berlin', 'DE'],
    ['München', 'DE'],
    ['Wien', 'AT'],
    ['Amsterdam', 'NL'],
    ['Paris', 'FR'],
    ['Milano', 'IT'],
    ['Kraków', 'PL'],
  ]
  const firstNames = first.split(' ')
  const lastNames = last.split('|')
  return Array.from({ length: CUSTOMERS }, (_, i) => {
    const customer_id = 1 + i
    const [city, country] = pick(places)
    return {
      customer_id,
      name: `${pick(firstNames)} ${pick(lastNames)}`,
      // Some customers never gave an address: an empty cell of the CSV file.
      email: chance(93) ? `customer${customer_id}@example.com` : '',
      city,
      country,
      segment: chance(15) ? 'trade' : 'private',
      signed_up_on: day(FIRST_DAY - integer(0, 1200) * 86_400_000),
    }
  })
}

/** Every change of an order is one event with the whole order in it; the newest one counts. */
function makeOrderEvents() {
  const events = []
  for (let i = 0; i < ORDERS; i++) {
    const order = {
      order_id: 500_001 + i,
      customer_id: pick(customers).customer_id,
      items: makeItems(),
      shipping_fee: chance(40) ? 0 : 4.9,
      ...(chance(12) ? { coupon: pick(['WINTER10', 'WELCOME', "FRIEND'S"]) } : {}),
    }
    let changedAt = FIRST_DAY + integer(0, DAYS * 86_399) * 1000
    let step = 0
    for (const status of makeHistory()) {
      if (changedAt >= END) break
      const event_id = `${order.order_id}-${++step}`
      events.push({ event_id, ...order, status, changed_at: time(changedAt) })
      changedAt += integer(1_800, 4 * 86_400) * 1000
    }
  }
  return asSent(events, 'changed_at')
}

function makeHistory() {
  const dice = integer(1, 100)
  if (dice <= 6) return ['placed', 'cancelled']
  if (dice <= 9) return ['placed', 'paid', 'cancelled']
  if (dice <= 15) return ['placed', 'paid', 'shipped', 'delivered', 'returned']
  if (dice <= 45) return ['placed', 'paid']
  return chance(35) ? ['placed', 'paid', 'shipped', 'delivered'] : ['placed', 'paid', 'shipped']
}

function makeItems() {
  const lines = integer(1, 100) <= 60 ? 1 : integer(2, 4)
  const chosen = new Set()
  while (chosen.size < lines) chosen.add(pick(products))
  return [...chosen].map(({ product_id, price }) => ({
    product_id,
    quantity: chance(80) ? 1 : integer(2, 5),
    unit_price: Number(price),
  }))
}

function makePageViews() {
  const views = []
  for (let session = 1; session <= SESSIONS; session++) {
    const session_id = `s${String(session).padStart(5, '0')}`
    const known = chance(55) ? { customer_id: pick(customers).customer_id } : {}
    const device = pick(['phone', 'phone', 'desktop', 'desktop', 'tablet'])
    const referrer = pick([null, null, 'https://search.example/', 'https://news.example/?q=down'])
    let viewedAt = FIRST_DAY + integer(0, DAYS * 86_399) * 1000
    const pages = integer(1, 7)
    for (let page = 1; page <= pages && viewedAt < END; page++) {
      views.push({
        page_view_id: `${session_id}-${page}`,
        session_id,
        ...known,
        ...makePage(),
        device,
        ...(page === 1 && referrer !== null ? { referrer } : {}),
        viewed_at: time(viewedAt),
      })
      viewedAt += integer(4, 400) * 1000
    }
  }
  return asSent(views, 'viewed_at')
}

function makePage() {
  if (chance(25)) return { path: '/' }
  if (chance(15)) return { path: '/cart' }
  if (chance(20)) return { path: `/search?q=${pick(['duvet', 'winter%20jacket', 'sokker'])}` }
  const { product_id } = pick(products)
  return { path: `/products/${product_id}`, product_id }
}

/** In order of time, but for a few that arrive late, and a few that are sent twice. */
function asSent(events, timeKey) {
  const arrival = (event) => Date.parse(event[timeKey]) + (chance(2) ? hours(integer(1, 72)) : 0)
  return events
    .map((event, i) => ({ event, at: arrival(event), i }))
    .sort((a, b) => a.at - b.at || a.i - b.i)
    .flatMap(({ event }) => (chance(1) ? [event, event] : [event]))
}

function euros(cents) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

function writeCsv(path, rows) {
  const cell = (value) =>
    /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)
  const lines = [Object.keys(rows[0]), ...rows.map((row) => Object.values(row))]
  write(path, lines.map((values) => values.map(cell).join(',') + '\n').join(''))
}

function writeNdjson(path, rows) {
  write(path, rows.map((row) => JSON.stringify(row) + '\n').join(''))
}

function write(path, text) {
  const url = new URL(path, import.meta.url)
  mkdirSync(new URL('.', url), { recursive: true })
  writeFileSync(url, text)
}

/** A 32-bit generator with a period of about 2^32; gives whole numbers from 0 to 2^32 - 1. */
function mulberry32(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
