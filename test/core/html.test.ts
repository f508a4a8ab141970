import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sanitizeHtml } from '../../core/html.ts'
import { htmlAttacks } from '../support/html-attacks.ts'

const ALLOWED_TAG = new RegExp(
  [
    '^</?(p|br|strong|b|em|i|u|s|ul|ol|li|h[1-6]|blockquote|code|pre|hr|span|table|caption|colgroup|col|thead|tbody',
    '|tfoot|tr|th|td|a)( /)?>$',
    '|^<(th|td)( (colspan|rowspan)="[^"<>]*")+>$|^<ol start="[^"<>]*">$',
    '|^<a href="(https?://|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">$',
  ].join(''),
)

/** Text and attributes are escaped, so each `<` begins a tag. */
function expectSafe(html: string): void {
  for (const tag of html.match(/<[^>]*>?/g) ?? []) expect(tag).toMatch(ALLOWED_TAG)
}

describe('what stays', () => {
  test.each([
    '<p>one<br />two <strong>b</strong> <b>b</b> <em>i</em> <i>i</i> <u>u</u> <s>s</s> <span>x</span></p>',
    '<h1>1</h1><h2>2</h2><h3>3</h3><h4>4</h4><h5>5</h5><h6>6</h6><hr />',
    '<ul><li>a</li></ul><ol start="3"><li>c</li></ol>',
    '<blockquote>q</blockquote><pre><code>x &lt; y &amp;&amp; z</code></pre>',
    '<table><caption>c</caption><thead><tr><th colspan="2">h</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
    'plain text, 😀 é',
  ])('[H1] %s', (html) => {
    expect(sanitizeHtml(html)).toBe(html)
  })

  test.each([
    'http://example.com/?a=1&amp;b=2',
    'https://example.com',
    'HTTPS://EXAMPLE.COM/',
    'mailto:a@example.com',
  ])('[H3] a link to %s', (target) => {
    expect(sanitizeHtml(`<a target="_blank" rel="opener" href="${target}">x</a>`)).toBe(
      `<a href="${target}" rel="noopener noreferrer nofollow">x</a>`,
    )
  })

  test('[H3] a link to anything else keeps its text only', () => {
    for (const target of [
      'javascript:alert(1)',
      '/path',
      '//example.com',
      '#part',
      'ftp://example.com',
      'data:,x',
    ]) {
      expect(sanitizeHtml(`<a href="${target}">x</a>`)).toBe('<a>x</a>')
    }
  })

  test('[H5] the text within unknown tags stays, that of scripts and styles goes', () => {
    expect(sanitizeHtml('<div><article>a</article><button>b</button></div>')).toBe('ab')
    expect(
      sanitizeHtml('a<script>x</script><style>x</style><title>x</title><svg><text>x</text></svg>b'),
    ).toBe('ab')
  })
})

describe('what goes', () => {
  test.each(htmlAttacks)('[H2] %s', (attack) => {
    for (const html of [
      attack,
      `<p>${attack}</p>`,
      `<table><tr><td>${attack}`,
      `<a href="https://a.example">${attack}`,
    ]) {
      const safe = sanitizeHtml(html)
      expectSafe(safe)
      expect(sanitizeHtml(safe)).toBe(safe)
    }
  })

  test('[H2][H4] any mixture of tags and attacks is safe, and stays as it is', () => {
    const tags = [
      'p',
      'div',
      'b',
      'a',
      'ul',
      'li',
      'table',
      'tr',
      'td',
      'h1',
      'pre',
      'button',
      'form',
      'select',
      'svg',
    ]
    const raw = [
      'script',
      'style',
      'noscript',
      'textarea',
      'xmp',
      'iframe',
      'title',
      'plaintext',
      'template',
      'math',
    ]
    const part = fc.oneof(
      fc.constantFrom(...[...tags, ...raw].flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag}/>`])),
      fc.constantFrom(...htmlAttacks),
      fc.constantFrom(
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '<',
        '>',
        '"',
        "'",
        '&',
        '&lt;',
        '&#x3c;',
        '\0',
        'text',
      ),
      fc.string({ maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 15 }), (parts) => {
        const safe = sanitizeHtml(parts.join(''))
        expectSafe(safe)
        expect(sanitizeHtml(safe)).toBe(safe)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    '<',
    '&',
    '<b>',
    '<p><button>',
    '<a href="',
    '<noscript>',
    '<iframe>',
    '<p><noscript></p>',
    '</p>',
    '<!--',
  ])('[H6] 40,000 characters of %s', (part) => {
    const html = part.repeat(40_000 / part.length)
    const before = performance.now()
    const safe = sanitizeHtml(html)
    expect(performance.now() - before).toBeLessThan(2_000)
    expectSafe(safe)
    expect(sanitizeHtml(safe)).toBe(safe)
  })
})
