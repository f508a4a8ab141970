/** Adds to Swagger UI: a navigation bar, the system's colour scheme, and accessible names for form fields. */
const dark = matchMedia('(prefers-color-scheme: dark)')
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followScheme)
followScheme()

const viewport = document.createElement('meta')
viewport.name = 'viewport'
viewport.content = 'width=device-width, initial-scale=1'
document.head.append(viewport)

const bar = document.createElement('header')
bar.className = 'corkboard'
for (const [text, href] of [
  ['Corkboard', '/'],
  ['Settings', '/settings'],
  ['Changelog', '/changelog'],
  ['OpenAPI document', '/api/v1/openapi.json'],
]) {
  const link = document.createElement('a')
  link.textContent = text
  link.href = href
  bar.append(link)
}
document.body.prepend(bar)

/** Gives each form field a name for screen readers: that of its parameter, or of its part of the page. */
function nameFields() {
  for (const field of document.querySelectorAll(
    '#swagger-ui :is(input, select, textarea):not([aria-label])',
  )) {
    const parameter = field.closest('tr[data-param-name]')
    field.setAttribute('aria-label', parameter?.getAttribute('data-param-name') ?? nameOfPart(field))
  }
}

function nameOfPart(field) {
  if (field.closest('.servers')) return 'Server'
  if (field.closest('.auth-wrapper')) return 'Access token'
  if (field instanceof HTMLTextAreaElement) return 'Request body'
  return 'Media type'
}

new MutationObserver(nameFields).observe(document.getElementById('swagger-ui'), {
  childList: true,
  subtree: true,
})
