/**
 * The icon of all pages. Without an icon browsers request `/favicon.ico` and report a violation of the pages' policy.
 */
import type { FastifyInstance } from 'fastify'
import { iconPath } from '../../api/sign-in/page.ts'

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="6" fill="#2457c5"/>
  <path fill="#fff" d="M7 8h8v7H7zm10 0h8v10h-8zM7 17h8v7H7zm10 3h8v4h-8z"/>
</svg>
`

export function registerIcon(app: FastifyInstance): void {
  app.get(iconPath, { schema: { hide: true } as object }, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(icon),
  )
}
