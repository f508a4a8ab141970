/** Who the caller is, and what there is. */
import Type from 'typebox'
import { cutPage, pageOf } from './page.ts'
import { route, type Route } from './route.ts'
import { nullable, pageAnswer, pageQuery, timestamp, uuid } from './schemas.ts'

const scopeNames = Type.Array(Type.String())

export const readMe = route({
  method: 'GET',
  path: '/me',
  scope: 'read',
  summary: 'The account behind the token.',
  schemas: {},
  answers: {
    200: Type.Object({
      user_id: uuid,
      display_name: nullable(Type.String()),
      email: Type.String(),
      tier: Type.String(),
      scopes: scopeNames,
      rate_limit: Type.Object({
        limit: Type.Integer(),
        remaining: Type.Integer(),
        reset: Type.Integer({ description: 'Unix seconds.' }),
      }),
      storage: Type.Object(
        { used: Type.Integer(), limit: Type.Integer() },
        {
          description:
            'Bytes of files in all workspaces that the account owns, those of uploads under way included.',
        },
      ),
    }),
  },
  async handle({ database, storageBytes }, { principal, rate }) {
    const [storage] = await database.asUser(
      principal.userId,
      (tx) => tx<{ used: number }[]>`select my_storage() as used`,
    )
    return {
      body: {
        user_id: principal.userId,
        display_name: principal.displayName,
        email: principal.email,
        tier: principal.tier,
        scopes: principal.scopes,
        rate_limit: { limit: rate.limit, remaining: rate.remaining, reset: rate.reset },
        storage: { used: storage!.used, limit: storageBytes[principal.tier === 'pro' ? 'pro' : 'free'] },
      },
    }
  },
})

export const listWorkspaces = route({
  method: 'GET',
  path: '/workspaces',
  scope: 'read',
  summary: 'The workspaces that the account can see.',
  schemas: { query: Type.Object(pageQuery) },
  answers: {
    200: Type.Object({
      workspaces: Type.Array(Type.Object({ id: uuid, name: Type.String(), created_at: timestamp })),
      ...pageAnswer,
    }),
  },
  async handle({ database }, { principal, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(
      principal.userId,
      (tx) => tx<{ id: string; name: string; created_at: Date }[]>`
        select id, name, created_at
        from workspaces
        order by created_at, id
        limit ${page.limit + 1} offset ${page.offset}`,
    )
    const { shown, end } = cutPage(page, rows)
    const workspaces = shown.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
    return { body: { workspaces, ...end } }
  },
})

/** `GET /`: the list of what there is, itself included. */
export function readRoot(routes: () => Route[]): Route {
  return route({
    method: 'GET',
    path: '/',
    scope: 'read',
    summary: 'The endpoints, and the scopes of the token.',
    schemas: {},
    answers: {
      200: Type.Object({
        name: Type.String(),
        version: Type.String(),
        documentation: Type.String(),
        openapi: Type.String(),
        scopes: scopeNames,
        endpoints: Type.Array(
          Type.Object({
            method: Type.String(),
            path: Type.String(),
            scope: nullable(Type.String()),
            summary: Type.String(),
          }),
        ),
      }),
    },
    handle: (_context, { principal, request }) =>
      Promise.resolve({
        body: {
          name: 'Corkboard',
          version: apiVersion,
          documentation: `${request.server.publicUrl()}/docs`,
          openapi: `${request.server.publicUrl()}/api/v1/openapi.json`,
          scopes: principal.scopes,
          endpoints: [
            ...routes().map(({ method, path, scope, summary }) => ({
              method,
              path: templatePath(path),
              scope,
              summary,
            })),
            { method: 'GET', path: '/openapi.json', scope: null, summary: openapiSummary },
          ],
        },
      }),
  })
}

export const apiVersion = '1.0.0'
export const openapiSummary = 'This description, OpenAPI 3.1.'

/** `/boards/:id` → `/boards/{id}` */
export const templatePath = (path: string) => path.replace(/:(\w+)/g, '{$1}')
