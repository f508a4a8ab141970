/** Makes HTML that somebody has written safe to show. */
import DOMPurify from 'dompurify'

/** No pictures: they would tell another site who reads the board. No style, no forms, no ids. */
const allowed = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'b', 'em', 'i', 'u', 's', 'del', 'code', 'pre', 'blockquote', 'a'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
}

DOMPurify.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName !== 'A') return
  element.setAttribute('target', '_blank')
  element.setAttribute('rel', 'noopener noreferrer')
})

export const safeHtml = (html: string): string => DOMPurify.sanitize(html, allowed)
