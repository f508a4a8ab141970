/** Runs in the page. Its value is a list of what is wrong with the layout and with borders, one line each. */
;(() => {
  /** What is wider than the window, or cut in two where it must not be. */
  function outside() {
    const faults = []
    const { scrollWidth } = document.documentElement
    if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} pixels wide`)
    for (const element of document.querySelectorAll('button, a, input, select, time, h1, h2, label')) {
      const { left, right } = element.getBoundingClientRect()
      if (left < 0 || right > innerWidth) faults.push(`outside: ${element.outerHTML.slice(0, 100)}`)
    }
    for (const element of document.querySelectorAll(
      ':is(time, a.button, main button, td code):not(#swagger-ui *)',
    )) {
      const text = document.createRange()
      text.selectNodeContents(element)
      if (text.getClientRects().length > 1) faults.push(`broken: ${element.outerHTML}`)
    }
    return faults
  }

  /** Borders of fields and buttons with a contrast below 3:1 (WCAG 1.4.11), which axe does not measure. */
  function paleBorders() {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    /** As it is seen on what is below it. */
    const seen = (...layers) => {
      for (const layer of layers) {
        context.fillStyle = layer
        context.fillRect(0, 0, 1, 1)
      }
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
    }
    const luminance = (channels) =>
      channels
        .map((channel) => channel / 255)
        .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4))
        .reduce((sum, channel, at) => sum + channel * [0.2126, 0.7152, 0.0722][at], 0)
    const contrast = (one, other) => {
      const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
      return (light + 0.05) / (dark + 0.05)
    }
    const page = getComputedStyle(document.body).backgroundColor
    return [...document.querySelectorAll('input, button, a.button, code.secret')].flatMap((element) => {
      const { borderTopColor, borderTopWidth, borderTopStyle } = getComputedStyle(element)
      if (
        element.matches('[type=hidden], [type=checkbox]') ||
        borderTopStyle === 'none' ||
        borderTopWidth === '0px'
      )
        return []
      const ratio = contrast(seen(page, borderTopColor), seen(page))
      return ratio >= 3 ? [] : [`a border of ${ratio.toFixed(1)}:1: ${element.outerHTML.slice(0, 100)}`]
    })
  }

  return [...outside(), ...paleBorders()]
})()
