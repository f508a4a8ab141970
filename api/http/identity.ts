/** The caller’s account and workspaces, and the list of endpoints. */
import Type, { type Static } from 'typebox'
import { flag, id, integer, list, named, nullable, object, oneOf, text } from './vocabulary.ts'
import { cutPage, pageOf } from './page.ts'
import { route, type Route } from './route.ts'
import { createdAt, offsetPage, pageQuery, workspaceId } from './schemas.ts'

const scopeNames = list(Type.String(), 'What the token may do: `read`, `write`, `delete`.')

const bytesUsed = (used: string) =>
  object(used, {
    used: integer('Bytes in use.'),
    limit: integer('Bytes that the plan allows.'),
  })

export const readMe = route('GET /me', 'read', {
  summary: 'Read the account that the token belongs to.',
  schemas: {},
  answers: {
    200: Type.Object({
      user_id: id('Id of the account.'),
      display_name: nullable(text('Name of the account. Null when it has none.')),
      email: text('E-mail address of the account.'),
      guest: Type.Optional(flag('Present and true for a guest who came by a link.')),
      tier: text('Plan of the account: `free` or `pro`.'),
      scopes: scopeNames,
      rate_limit: object('The rate limit of this token.', {
        limit: integer('Requests that the token may send in an hour.'),
        remaining: integer('Requests that are left in this hour.'),
        reset: integer('When the oldest counted request no longer counts, in Unix seconds.'),
      }),
      storage: bytesUsed('Storage of files in all workspaces that the account owns. Running uploads count.'),
      documents: object(
        'Storage of boards in all workspaces that the account owns: snapshots, logs of recent changes, removed cards that can be restored, and history. Boards in the trash count.',
        {
          used: integer('Bytes in use.'),
          limit: integer('Bytes that the plan allows.'),
          history: integer('Bytes in use by the history of boards, which `used` contains.'),
        },
      ),
    }),
  },
  async handle({ database, storageBytes, documentBytes }, { principal, rate }) {
    const tier = principal.tier === 'pro' ? 'pro' : 'free'
    const [used] = await database.asUser(
      principal.userId,
      (tx) => tx<{ storage: number; documents: number; history: number; guest: boolean }[]>`
        select my_storage() as storage, d.used as documents, d.history,
          exists (select from guests where id = current_user_id()) as guest
        from my_document_bytes() d`,
    )
    return {
      body: {
        user_id: principal.userId,
        display_name: principal.displayName,
        email: principal.email,
        ...(used!.guest ? { guest: true } : {}),
        tier: principal.tier,
        scopes: principal.scopes,
        rate_limit: { limit: rate.limit, remaining: rate.remaining, reset: rate.reset },
        storage: { used: used!.storage, limit: storageBytes[tier] },
        documents: { used: used!.documents, limit: documentBytes[tier], history: used!.history },
      },
    }
  },
})

const Workspace = named('Workspace', 'A workspace. It contains boards, files and members.', {
  id: workspaceId,
  name: text('Name of the workspace.'),
  role: oneOf(
    ['owner', 'editor', 'viewer'],
    'What the account is in it. `owner`: manages who has access, and pays. `editor`: changes boards. `viewer`: reads them.',
  ),
  created_at: createdAt,
})

export const listWorkspaces = route('GET /workspaces', 'read', {
  summary: 'List the workspaces that the account can see.',
  schemas: { query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ workspaces: list(Workspace, 'The workspaces of this page.') }) },
  async handle({ database }, { principal, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(
      principal.userId,
      (tx) => tx<Static<typeof Workspace>[]>`
        select id, name, created_at,
          case
            when owner_id = current_user_id() then 'owner'
            when id in (select writable_workspaces(current_user_id())) then 'editor'
            else 'viewer'
          end as role
        from workspaces
        order by created_at, id
        limit ${page.limit + 1} offset ${page.offset}`,
    )
    const { shown, end } = cutPage(page, rows)
    return { body: { workspaces: shown, ...end } }
  },
})

/** `GET /`: the list of all operations, including this one. */
export function readRoot(routes: () => Route[]): Route {
  return route('GET /', 'read', {
    summary: 'List the endpoints and the scopes of the token.',
    schemas: {},
    answers: {
      200: Type.Object({
        name: text('Name of the service.'),
        version: text('Version of the API.'),
        documentation: text('URL of the documentation.'),
        openapi: text('URL of the API description.'),
        scopes: scopeNames,
        endpoints: list(
          Type.Object({
            method: text('HTTP method.'),
            path: text('Path below the root of the API.'),
            scope: nullable(text('The scope that the operation needs. Null: it needs no token.')),
            summary: text('What the operation does.'),
          }),
          'All operations.',
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
            ...routes().map(({ method, path, scope, open, summary }) => ({
              method,
              path: templatePath(path),
              scope: open ? null : scope,
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
