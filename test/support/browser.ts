/**
 * A browser without JavaScript. It keeps cookies, follows redirects within the service, and sends forms of its pages.
 */
import { Parser } from 'htmlparser2'
import { CookieJar } from 'tough-cookie'

export interface Form {
  action: string
  method: string
  fields: [name: string, value: string][]
  buttons: string[]
}

export interface Shown {
  status: number
  headers: Headers
  /** URL after redirects, without the service's own address. */
  path: string
  text: string
  forms: Form[]
  /** Returns the form with this action. */
  form(action: string): Form
}

export class Browser {
  readonly url: string
  readonly jar: CookieJar

  constructor(url: string, jar = new CookieJar()) {
    this.url = url
    this.jar = jar
  }

  /** Opens a page and follows redirects. */
  async open(path: string): Promise<Shown> {
    let shown = await this.send('GET', path)
    for (let hops = 0; hops < 5; hops++) {
      const location = shown.headers.get('location')
      if (location === null || shown.status < 300 || shown.status > 399) break
      const next = new URL(location, this.url)
      if (next.origin !== this.url) break
      shown = await this.send('GET', next.pathname + next.search)
    }
    return shown
  }

  /** Sends a form with these values, and follows redirects. */
  async submit(form: Form, typed: Record<string, string | string[]> = {}): Promise<Shown> {
    const answer = await this.post(form, typed)
    const location = answer.headers.get('location')
    return location === null ? answer : this.open(location.replace(this.url, ''))
  }

  /** Sends a form, and returns the answer without following a redirect. */
  post(
    form: Pick<Form, 'action' | 'fields'>,
    typed: Record<string, string | string[]> = {},
    headers: Record<string, string> = {},
  ): Promise<Shown> {
    const fields = form.fields.filter(([name]) => !(name in typed))
    for (const [name, values] of Object.entries(typed))
      for (const value of [values].flat()) fields.push([name, value])
    return this.send('POST', form.action, new URLSearchParams(fields), {
      origin: this.url,
      'sec-fetch-site': 'same-origin',
      ...headers,
    })
  }

  async send(
    method: string,
    path: string,
    body?: URLSearchParams,
    headers: Record<string, string> = {},
  ): Promise<Shown> {
    const cookie = await this.jar.getCookieString(this.url + path)
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie ? { cookie } : {}), ...headers },
      ...(body ? { body } : {}),
    })
    for (const line of response.headers.getSetCookie()) await this.jar.setCookie(line, this.url + path)
    const text = await response.text()
    const forms = formsOf(text)
    return {
      status: response.status,
      headers: response.headers,
      path,
      text,
      forms,
      form(action) {
        const found = forms.find((form) => form.action === action)
        if (!found) throw new Error(`no form with the action ${action} on ${path}:\n${text}`)
        return found
      },
    }
  }

  cookie(name: string): Promise<string | undefined> {
    return this.jar.getCookies(this.url).then((all) => all.find(({ key }) => key === name)?.value)
  }

  /** Returns another browser with a copy of the cookies. */
  async copy(): Promise<Browser> {
    return new Browser(this.url, await this.jar.clone())
  }
}

function formsOf(text: string): Form[] {
  const forms: Form[] = []
  let form: Form | null = null
  const parser = new Parser({
    onopentag(tag, attributes) {
      const { name, type = 'text', value = 'on' } = attributes
      if (tag === 'form')
        forms.push(
          (form = {
            action: attributes['action'] ?? '',
            method: attributes['method'] ?? 'get',
            fields: [],
            buttons: [],
          }),
        )
      else if (tag === 'button') form?.buttons.push(name ?? '')
      else if (tag === 'input' && form && name) {
        const isChoice = type === 'checkbox' || type === 'radio'
        if (!isChoice || 'checked' in attributes)
          form.fields.push([name, attributes['value'] ?? (isChoice ? value : '')])
      } else if (tag === 'option' && form && 'selected' in attributes) {
        const select = selects.at(-1)
        if (select) form.fields.push([select, attributes['value'] ?? ''])
      } else if (tag === 'select' && name) selects.push(name)
    },
    onclosetag(tag) {
      if (tag === 'form') form = null
      if (tag === 'select') selects.pop()
    },
  })
  const selects: string[] = []
  parser.end(text)
  return forms
}
