// A drawn chart as a PNG: on paper of the page's colour, with a margin and its title, twice as fine as on the screen.

import { colourOf } from '../pictures/line-chart.tsx'

const MARGIN = 18
const TITLE = 34
const FINENESS = 2

/** What a style sheet says of a drawing is not in the drawing; it is written into a copy of it. */
const STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'font-size',
  'font-family',
  'font-style',
  'text-anchor',
  'opacity',
]

export async function pictureAsPng(host: HTMLElement, title: string): Promise<Blob> {
  const drawn = host.querySelector<SVGSVGElement | HTMLCanvasElement>('.picture > svg, canvas')
  if (drawn === null) throw new Error('there is no picture yet')
  const { width, height } = drawn.getBoundingClientRect()
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * MARGIN) * FINENESS
  canvas.height = (height + TITLE + MARGIN) * FINENESS
  const context = canvas.getContext('2d')!
  context.scale(FINENESS, FINENESS)
  context.fillStyle = colourOf(host, '--paper')
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = colourOf(host, '--ink')
  context.font = `600 14px ${getComputedStyle(host).fontFamily}`
  context.fillText(title, MARGIN, 22)
  const image = drawn instanceof HTMLCanvasElement ? drawn : await imageOf(drawn)
  context.drawImage(image, MARGIN, TITLE, width, height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('no PNG')) : resolve(blob)),
      'image/png',
    ),
  )
}

async function imageOf(svg: SVGSVGElement): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const parts = svg.querySelectorAll('*')
  for (const [i, part] of copy.querySelectorAll('*').entries()) {
    const style = getComputedStyle(parts[i]!)
    for (const name of STYLES) part.setAttribute(name, style.getPropertyValue(name))
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  const text = new XMLSerializer().serializeToString(copy)
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    return image
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** Into the clipboard; a file where the browser has no clipboard for pictures, as over plain HTTP. */
export async function copyPicture(host: HTMLElement, title: string): Promise<'copied' | 'saved'> {
  const png = await pictureAsPng(host, title)
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])
    return 'copied'
  } catch {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(png)
    link.download = `${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}.png`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    return 'saved'
  }
}
