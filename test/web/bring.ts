/** Brings files and texts onto the page, as a person does by drag or by the clipboard. */
import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'

export interface BroughtFile {
  name: string
  mimeType: string
  buffer: Buffer
}

/** What is on its way to the board. */
export const tray = (page: Page): Locator => page.getByRole('region', { name: 'Uploads and imports' })
export const picture = (width: number, height: number, background = '#3a7') =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()
export const png = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer })

/** Drops files, or a text, at a place of the canvas. The browser makes a drop event of its own data only. */
export async function drop(
  page: Page,
  what: { files?: BroughtFile[]; data?: Record<string, string> },
  at: { x: number; y: number },
): Promise<void> {
  const { files = [], data = {} } = what
  const sent = files.map(({ name, mimeType, buffer }) => [name, mimeType, buffer.toString('base64')])
  await page.evaluate(
    ({ sent, data, at }: any) => {
      const { atob, document, DataTransfer, DragEvent, File } = globalThis as any
      const dataTransfer = new DataTransfer()
      for (const [name, type, base64] of sent)
        dataTransfer.items.add(
          new File([Uint8Array.from(atob(base64), (one: string) => one.charCodeAt(0))], name, { type }),
        )
      for (const [type, text] of Object.entries(data)) dataTransfer.setData(type, text)
      const target = document.elementFromPoint(at.x, at.y)
      for (const type of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(
          new DragEvent(type, {
            ...{ dataTransfer, bubbles: true, cancelable: true, composed: true },
            ...{ clientX: at.x, clientY: at.y },
          }),
        )
    },
    { sent, data, at },
  )
}

/** Pastes by the keys, from the real clipboard. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate('document.activeElement?.blur()')
  await page.evaluate((given: string) => (globalThis as any).navigator.clipboard.writeText(given), text)
  await page.keyboard.press('Control+v')
}
