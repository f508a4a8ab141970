/** The caller’s account and workspaces, and the list of endpoints. */
import Type from 'typebox'
import { cutPage, pageOf } from './page.ts'
import { route, type Route } from './route.ts'
import { named } from './named.ts'
import { createdAt, nullable, pageAnswer, pageQuery, uuid, workspaceId } from './schemas.ts'

const scopeNames = Type.Array(Type.String(), {
  description: 'What the token may do: `read`, `write`, `delete`.',
})

const bytesUsed = (used: string) =>
  Type.Object(
    {
      used: Type.Integer({ description: 'Bytes in use.' }),
      limit: Type.Integer({ description: 'Bytes that the plan allows.' }),
    },
    { description: used },
  )

export const readMe = route({
  method: 'GET',
  path: '/me',
  scope: 'read',
  summary: 'Read the account that the token belongs to.',
  schemas: {},
  answers: {
    200: Type.Object({
      user_id: { ...uuid, description: 'Id of the account.' },
      display_name: nullable(Type.String({ description: 'Name of the account. Null when it has none.' })),
      email: Type.String({ description: 'E-mail address of the account.' }),
      tier: Type.String({ description: 'Plan of the account: `free` or `pro`.' }),
      scopes: scopeNames,
      rate_limit: Type.Object(
        {
          limit: Type.Integer({ description: 'Requests that the token may send in an hour.' }),
          remaining: Type.Integer({ description: 'Requests that are left in this hour.' }),
          reset: Type.Integer({
            description: 'When the oldest counted request no longer counts, in Unix seconds.',
          }),
        },
        { description: 'The rate limit of this token.' },
      ),
      storage: bytesUsed('Storage of files in all workspaces that the account owns. Running uploads count.'),
      documents: bytesUsed(
        'Storage of boards in all workspaces that the account owns: snapshots, logs of recent changes, and removed cards that can be restored. Boards in the trash count.',
      ),
    }),
  },
  async handle({ database, storageBytes, documentBytes }, { principal, rate }) {
    const tier = principal.tier === 'pro' ? 'pro' : 'free'
    const [used] = await database.asUser(
      principal.userId,
      (tx) => tx<{ storage: number; documents: number }[]>`
        select my_storage() as storage, my_documents() as documents`,
    )
    return {
      body: {
        user_id: principal.userId,
        display_name: principal.displayName,
        email: principal.email,
        tier: principal.tier,
        scopes: principal.scopes,
        rate_limit: { limit: rate.limit, remaining: rate.remaining, reset: rate.reset },
        storage: { used: used!.storage, limit: storageBytes[tier] },
        documents: { used: used!.documents, limit: documentBytes[tier] },
      },
    }
  },
})

const Workspace = named(
  'Workspace',
  Type.Object({
    id: workspaceId,
    name: Type.String({ description: 'Name of the workspace.' }),
    created_at: createdAt,
  }),
  'A workspace. It contains boards, files and members.',
)

export const listWorkspaces = route({
  method: 'GET',
  path: '/workspaces',
  scope: 'read',
  summary: 'List the workspaces that the account can see.',
  schemas: { query: Type.Object(pageQuery) },
  answers: {
    200: Type.Object({
      workspaces: Type.Array(Workspace, { description: 'The workspaces of this page.' }),
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

/** `GET /`: the list of all operations, including this one. */
export function readRoot(routes: () => Route[]): Route {
  return route({
    method: 'GET',
    path: '/',
    scope: 'read',
    summary: 'List the endpoints and the scopes of the token.',
    schemas: {},
    answers: {
      200: Type.Object({
        name: Type.String({ description: 'Name of the service.' }),
        version: Type.String({ description: 'Version of the API.' }),
        documentation: Type.String({ description: 'URL of the documentation.' }),
        openapi: Type.String({ description: 'URL of the API description.' }),
        scopes: scopeNames,
        endpoints: Type.Array(
          Type.Object({
            method: Type.String({ description: 'HTTP method.' }),
            path: Type.String({ description: 'Path below the root of the API.' }),
            scope: nullable(
              Type.String({ description: 'The scope that the operation needs. Null: it needs no token.' }),
            ),
            summary: Type.String({ description: 'What the operation does.' }),
          }),
          { description: 'All operations.' },
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
export const openapiSummary = 'Read the API description, OpenAPI 3.1.'

/** `/boards/:id` → `/boards/{id}` */
export const templatePath = (path: string) => path.replace(/:(\w+)/g, '{$1}')
