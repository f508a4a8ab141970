/** What the viewer lacks: a bar that leads back, the colours of the system, and names for its fields. */
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

/** Fields have a name for screen readers: the parameter's, or that of the part of the page. */
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
