// The rows that came with the HTML, which are on the screen until the script has drawn its own.

const PAINTED_AT_THE_LATEST_MS = 200

const shown = document.getElementById('first-rows')

export function replaceFirstRows(): void {
  shown?.remove()
}

// The rest of the script follows in the same file, and would keep the browser from painting. A page in the background is
// not painted at all.
if (shown !== null) {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, PAINTED_AT_THE_LATEST_MS)
    requestAnimationFrame(() => setTimeout(resolve))
  })
}
