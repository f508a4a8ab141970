/** A workspace of which somebody sees one board, and everything in it that they must not see. */
import type { TestService, TestUser } from '../support/service.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'
import { png, upload } from './file.ts'

export interface Hidden {
  /** The board that they see. Its parent and its child are hidden. */
  open: Shown
  /** A hidden board with everything that a board can have. */
  board: Shown
  /** What a path may name, by the first word of the path. */
  ids: Record<string, string[]>
  /** Ids and words that must be in no answer, unless the request has named them. */
  secrets: string[]
  /** A word in every hidden name and text. */
  mark: string
  cardIds: string[]
  imageKey: string
}

export async function makeHidden(service: TestService, owner: TestUser, member: TestUser): Promise<Hidden> {
  const { api, workspaceId } = owner
  const mark = `zanzibar${workspaceId.slice(0, 8)}`
  const identifiers = [{ scope: mark, value: mark }]
  await service.admin`update workspaces set name = ${`${mark} workspace`} where id = ${workspaceId}`
  await service.admin`update users set display_name = ${`${mark} member`} where id = ${member.userId}`
  await service.member(workspaceId, member, 'editor')
  const parent = await makeBoard(owner, { name: `${mark} parent` })
  const open = await makeBoard(owner, { name: 'open', parent_board_id: parent.id })
  const child = await makeBoard(owner, { name: `${mark} child`, parent_board_id: open.id })
  const board = await makeBoard(owner, { name: `${mark} board`, identifiers })
  const made = async (path: string, body: object) => succeeded(await api.post(path, body))
  const imageKey: string = (await upload(service, owner, board.id, png)).body.image_key
  const cards = await makeCards(member, board.id, [
    { title: `${mark} note`, body: mark, identifiers },
    { kind: 'image', image_key: imageKey, alt: mark },
  ])
  await makeCard(owner, child.id, { title: `${mark} below` })
  const at = `/boards/${board.id}`
  const { group } = await made(`${at}/groups`, { name: mark })
  const { version } = await made(`${at}/versions`, { name: mark })
  const { link, token: linkToken } = await made(`${at}/links`, { role: 'editor', name: mark })
  const invitations = `/workspaces/${workspaceId}/invitations`
  const { invitation } = await made(invitations, { email: `${mark}@example.test`, role: 'viewer' })
  const robot = await made('/service-accounts', { workspace_id: workspaceId, name: mark })
  const hook = { workspace_id: workspaceId, url: `https://93.184.215.14/${mark}`, events: ['*'], name: mark }
  const { webhook } = await made('/webhooks', hook)
  await api.patch(at, { scheduled_date: '2031-01-01', day_label: mark })
  const cardIds = cards.map(({ id }) => id)
  const boards = [parent.id, child.id, board.id]
  const rest = [group.id, version.id, link.id, invitation.id, robot.service_account.id, webhook.id]
  return {
    ...{ open, board, mark, cardIds, imageKey },
    ids: {
      boards: [board.id, parent.id],
      workspaces: [workspaceId],
      webhooks: [webhook.id],
      'service-accounts': [robot.service_account.id],
      images: [imageKey],
    },
    secrets: [
      mark,
      owner.email,
      member.email,
      member.userId,
      linkToken,
      imageKey,
      ...boards,
      ...cardIds,
      ...rest,
    ],
  }
}
