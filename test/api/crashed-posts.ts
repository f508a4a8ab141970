/** Every POST of the API as a request that writes, for what becomes of it when its answer is lost. */
import { randomUUID } from 'node:crypto'
import { toolCall } from '../support/mcp.ts'
import type { TestService, TestUser } from '../support/service.ts'

import { openSite, png, serves, type Site } from '../support/site.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'
import { sendParts } from './file.ts'

export interface Post {
  /** As in the table of routes. */
  route: string
  path: string
  body: unknown
  headers?: Record<string, string>
  /** What is so of its answer, if it tells what has been done. */
  truth: (body: any) => unknown
  /** Sent again it does all of it once more, or the rest, and that changes nothing. */
  again?: true
}

const gif = 'GIF89a\x01\0\x01\0\0\0\0;'

/** Where imports read from: the path `/a`, and `/a?placed`. */
export async function openPictures(): Promise<Site> {
  const site = await openSite()
  site.pages.set('/a', serves(png(30, 20)))
  site.pages.set('/a?placed', serves(png(50, 20)))
  return site
}

/** @param remote a URL that imports may read */
export async function everyPost(service: TestService, user: TestUser, remote: string): Promise<Post[]> {
  const { api, workspaceId } = user
  const [board, target, child, trashed] = await Promise.all([
    makeBoard(user),
    makeBoard(user),
    makeBoard(user),
    makeBoard(user),
  ])
  await api.delete(`/boards/${trashed.id}`)
  const identifiers = [{ scope: 's', value: randomUUID() }]
  const [moved, , known] = await makeCards(user, board.id, [{ title: 'a' }, { title: 'b' }, { identifiers }])
  const arranged = await makeBoard(user)
  const scattered = await makeCards(user, arranged.id, [
    { x: 5, y: 5 },
    { x: 900, y: 900 },
  ])
  const imported = await makeBoard(user)
  const restored = await makeBoard(user)
  const [renamed, mistaken] = await makeCards(user, restored.id, [{}, {}])
  await api.patch(`/boards/${restored.id}/cards/${renamed!.id}`, { title: 'b' })
  const wrong = await api.patch(`/boards/${restored.id}/cards/${mistaken!.id}`, { title: 'c' })
  const { webhook } = succeeded(
    await api.post('/webhooks', { workspace_id: workspaceId, url: 'https://93.184.215.14/', events: ['*'] }),
  )
  const { delivery } = succeeded(await api.post(`/webhooks/${webhook.id}/test`))
  const { service_account: robot } = succeeded(
    await api.post('/service-accounts', { workspace_id: workspaceId, name: 'Robot' }),
  )
  const session = async () => {
    const { key, upload_id } = succeeded(await api.post(`/uploads/multipart?board=${board.id}`, { bytes: 5 }))
    return { board_id: board.id, key, upload_id }
  }
  const [whole, ended, signed] = [await session(), await session(), await session()]
  const parts = await sendParts(user, whole, Buffer.from('hello'), 8 * 1024 * 1024, [1])
  const colleague = await service.user()
  await service.member(workspaceId, colleague, 'viewer')
  const invitation = await colleague.api.post(`/workspaces/${colleague.workspaceId}/invitations`, {
    role: 'viewer',
  })
  const has = (value: unknown) => value !== undefined && value !== null
  return [
    {
      route: 'POST /boards',
      path: '/boards',
      body: { name: 'One' },
      truth: ({ board }) => board.name === 'One',
    },
    {
      route: 'POST /boards',
      path: '/boards',
      body: { boards: [{ name: 'Two' }, { name: 'Three' }] },
      truth: ({ created }) => created === 2,
    },
    {
      route: 'POST /boards/move',
      path: '/boards/move',
      body: { board_ids: [child.id], parent_board_id: target.id },
      truth: (body) => body.moved[0] === child.id && body.skipped.length === 0,
    },
    {
      route: 'POST /boards/:id/restore',
      path: `/boards/${trashed.id}/restore`,
      body: undefined,
      truth: ({ restored, board }) => restored && !board.deleted,
    },
    {
      route: 'POST /boards/:id/cards',
      path: `/boards/${board.id}/cards`,
      body: { kind: 'note', title: 'new' },
      truth: ({ cards }) => cards[0].title === 'new',
    },
    {
      route: 'POST /boards/:id/cards',
      path: `/boards/${board.id}/cards`,
      body: {
        on_conflict: 'identifier',
        cards: [
          { kind: 'note', title: 'no identifier' },
          { kind: 'note', identifiers, title: 'changed' },
        ],
      },
      truth: (body) =>
        body.created === 1 &&
        body.updated === 1 &&
        body.cards[0].created &&
        !body.cards[1].created &&
        body.cards[1].id === known!.id,
    },
    {
      route: 'POST /boards/:id/cards/move',
      path: `/boards/${board.id}/cards/move`,
      body: { to_board_id: target.id, card_ids: [moved!.id, 'none'] },
      truth: (body) => body.moved === 1 && body.cards[0].id === moved!.id && body.not_found.join() === 'none',
    },
    {
      route: 'POST /boards/:id/arrange',
      path: `/boards/${arranged.id}/arrange`,
      body: { layout: 'row' },
      truth: (body) => body.moved > 0 && body.cards.length === scattered.length,
    },
    {
      route: 'POST /boards/:id/restore-to',
      path: `/boards/${restored.id}/restore-to`,
      body: { as_of: '1', card_ids: [renamed!.id] },
      truth: (body) => body.changes.length === 1 && body.changes[0].id === renamed!.id,
    },
    {
      route: 'POST /boards/:id/undo',
      path: `/boards/${restored.id}/undo`,
      body: { request_id: wrong.headers.get('x-request-id') },
      truth: ({ undone }) => undone.length === 1 && undone[0].id === mistaken!.id,
    },
    {
      route: 'POST /boards/:id/versions',
      path: `/boards/${board.id}/versions`,
      body: { name: 'Version' },
      truth: ({ version }) => version.name === 'Version',
    },
    {
      route: 'POST /boards/:id/groups',
      path: `/boards/${board.id}/groups`,
      body: { name: 'Group' },
      truth: ({ group }) => group.name === 'Group',
    },
    {
      route: 'POST /boards/:id/import',
      path: `/boards/${imported.id}/import`,
      body: { items: [{ url: remote }, { url: `${remote}?placed`, x: 0, y: 5000 }] },
      truth: (body) => body.created === 2 && body.existing === 0 && body.cards.length === 2,
      again: true,
    },
    {
      route: 'POST /webhooks',
      path: '/webhooks',
      body: { workspace_id: workspaceId, url: 'https://93.184.215.14/', events: ['*'] },
      truth: ({ secret }) => secret.startsWith('whsec_'),
    },
    {
      route: 'POST /webhooks/:id/test',
      path: `/webhooks/${webhook.id}/test`,
      body: undefined,
      truth: ({ delivery }) => has(delivery.id),
    },
    {
      route: 'POST /webhooks/:id/rotate-secret',
      path: `/webhooks/${webhook.id}/rotate-secret`,
      body: undefined,
      truth: ({ secret }) => secret.startsWith('whsec_'),
    },
    {
      route: 'POST /webhooks/:id/deliveries/:deliveryId/redeliver',
      path: `/webhooks/${webhook.id}/deliveries/${delivery.delivery_id}/redeliver`,
      body: undefined,
      truth: (body) => body.delivery.delivery_id === delivery.delivery_id,
    },
    {
      route: 'POST /service-accounts',
      path: '/service-accounts',
      body: { workspace_id: workspaceId, name: 'Other' },
      truth: (body) => has(body.access_token),
    },
    {
      route: 'POST /service-accounts/:id/tokens',
      path: `/service-accounts/${robot.id}/tokens`,
      body: {},
      truth: (body) => has(body.access_token),
    },
    {
      route: 'POST /workspaces/:id/invitations',
      path: `/workspaces/${workspaceId}/invitations`,
      body: { email: 'ben@example.test', role: 'editor' },
      truth: ({ url }) => url.includes('/login/invitation?code='),
    },
    {
      route: 'POST /invitations/accept',
      path: '/invitations/accept',
      body: { code: new URL(invitation.body['url'] as unknown as string).searchParams.get('code') },
      truth: ({ workspace_id }) => workspace_id === colleague.workspaceId,
    },
    {
      route: 'POST /notifications/read',
      path: '/notifications/read',
      body: { ids: [randomUUID()] },
      truth: ({ read, has_more }) => read === 0 && has_more === false,
      again: true,
    },
    {
      route: 'POST /boards/:id/links',
      path: `/boards/${board.id}/links`,
      body: { role: 'viewer', password: 'a password' },
      truth: ({ link, token }) => link.has_password && has(token),
    },
    {
      route: 'POST /boards/:id/shares',
      path: `/boards/${board.id}/shares`,
      body: { user_id: colleague.userId, role: 'viewer' },
      truth: ({ share }) => share.user_id === colleague.userId,
    },
    {
      route: 'POST /sessions',
      path: '/sessions',
      body: { board_ids: [board.id], role: 'editor', user: { id: 'u-1', name: 'Ada' } },
      truth: (body) => body.access_token.startsWith('corks_'),
    },
    {
      route: 'POST /images/urls',
      path: '/images/urls',
      body: { images: [{ image_key: whole.key }] },
      truth: (body) => has(body.expires_at),
      again: true,
    },
    {
      route: 'POST /uploads',
      path: `/uploads?board=${board.id}`,
      body: gif,
      headers: { 'content-type': 'image/gif' },
      truth: ({ image_key }) => has(image_key),
    },
    {
      route: 'POST /uploads/from-url',
      path: `/uploads/from-url?board=${board.id}`,
      body: { url: remote },
      truth: ({ key, width }) => has(key) && width === 30,
    },
    {
      route: 'POST /uploads/multipart',
      path: `/uploads/multipart?board=${board.id}`,
      body: { bytes: 7 },
      truth: ({ upload_id }) => has(upload_id),
    },
    {
      route: 'POST /uploads/multipart/parts',
      path: '/uploads/multipart/parts',
      body: { ...signed, part_numbers: [1] },
      truth: ({ urls }) => has(urls[1]),
      again: true,
    },
    {
      route: 'POST /uploads/multipart/complete',
      path: '/uploads/multipart/complete',
      body: { ...whole, parts },
      truth: ({ image_key, bytes }) => image_key === whole.key && bytes === 5,
      again: true,
    },
    {
      route: 'POST /mcp',
      path: '/mcp',
      body: toolCall('create_board', { name: 'By an agent' }),
      headers: { accept: 'application/json' },
      truth: ({ result }) => result.structuredContent.board.name === 'By an agent',
      again: true,
    },
    {
      route: 'POST /uploads/multipart/abort',
      path: '/uploads/multipart/abort',
      body: ended,
      truth: ({ aborted, key }) => aborted && key === ended.key,
    },
  ]
}

/** All that a request that is worked on twice would change. */
export async function stateOf(service: TestService): Promise<unknown> {
  return service.admin`
    select
      (select json_agg(b order by b.id) from (select id, name, parent_board_id, deleted_at, updated_at from boards) b) as boards,
      (select json_agg(c order by c.board_id, c.card_id) from (select board_id, card_id, hash, deleted_at from card_index) c) as cards,
      (select json_agg(d order by d.board_id) from (select board_id, seq from board_documents) d) as logs,
      (select json_agg(g order by g.group_id) from (select group_id, deleted_at from group_index) g) as groups,
      (select json_agg(w order by w.id) from (select id, secret from webhooks) w) as webhooks,
      (select json_agg(t order by t.id) from (select id, attempt, next_attempt_at from webhook_deliveries) t) as deliveries,
      (select json_agg(t order by t.id) from (select id, revoked_at from tokens) t) as tokens,
      (select json_agg(i order by i.id) from (select id, ended_at from invitations) i) as invitations,
      (select json_agg(l order by l.id) from (select id, ended_at from board_links) l) as links,
      (select json_agg(s order by s.user_id, s.board_id) from board_shares s) as shares,
      (select json_agg(s order by s.id) from session_users s) as sessions,
      (select json_agg(i order by i.image_key) from (select image_key, bytes from images) i) as images,
      (select json_agg(u order by u.image_key) from (select image_key, state from uploads) u) as uploads,
      (select json_agg(u order by u.workspace_id) from storage_usage u) as storage,
      (select count(*) from audit_operations) as audit`
}
