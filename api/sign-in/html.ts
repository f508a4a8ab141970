/** HTML from templates. Inserted values are escaped, unless they come from a template themselves. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

/** Attribute values must be in double quotes. Null, undefined and false insert nothing. */
export function html(template: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(template.reduce((text, piece, at) => text + written(parts[at - 1]) + piece))
}

function written(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(written).join('')
  return String(part).replace(/[&<>"']/g, (character) => escapes[character]!)
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
