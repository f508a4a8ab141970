/** What a person brings onto a board by drop, by paste or by choosing files. */

export interface Gift {
  files: File[]
  text: string
  /** Names of folders. Browsers give their files only one by one, so they are refused. */
  folders: string[]
}

/** Reads a drop or a paste. It has to be done before the event has ended: afterwards the browser gives nothing. */
export function readGift(transfer: DataTransfer): Gift {
  const gift: Gift = { files: [], folders: [], text: '' }
  for (const item of transfer.items) {
    if (item.kind !== 'file') continue
    const entry = item.webkitGetAsEntry()
    const file = item.getAsFile()
    if (entry?.isDirectory) gift.folders.push(entry.name)
    else if (file) gift.files.push(file)
  }
  // A link that is dragged from a page comes as a list of addresses, with comments.
  const addresses = transfer
    .getData('text/uri-list')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'))
  gift.text = addresses.length > 0 ? addresses.join('\n') : transfer.getData('text/plain')
  return gift
}

export type Text = { is: 'links'; urls: string[] } | { is: 'text'; text: string }

/** A text of addresses alone, one a line or with spaces between them, is a list of links. Each counts once. */
export function readText(text: string): Text {
  const words = text.trim().split(/\s+/)
  const isList = words.every((word) => /^https?:\/\/\S+$/i.test(word) && URL.canParse(word))
  return isList ? { is: 'links', urls: [...new Set(words)] } : { is: 'text', text: text.trim() }
}
