/** `GET /boards/{id}/cards?as_of=`: the cards as they were. */
import { withPast } from '../../collab/history/past.ts'
import { pastTimes } from '../../collab/history/times.ts'
import { presentAll, readPageOf, type Extras } from '../../collab/boards/read.ts'
import { momentOf, pastReader, presentMoment } from '../boards/past.ts'
import { showImages } from '../files/show-images.ts'
import { pageEnd, type Page } from '../http/page.ts'
import type { ApiContext } from '../http/route.ts'

export async function listPast(
  context: ApiContext,
  account: string,
  { boardId, asOf, page, extras }: { boardId: string; asOf: string; page: Page; extras: Extras },
) {
  const { live } = context
  const moment = momentOf(asOf)
  const reader = await pastReader(context.database, account, boardId)
  const past = await withPast(live, boardId, moment, reader, async ({ document, position, at }) => {
    return { ...(await readPageOf(document, page, extras)), position, at }
  })
  const ids = past.cards.map(({ id }) => id)
  const times = pastTimes(context.database, boardId, ids, past.at)
  const shown = await presentAll(live, account, past.cards, times, extras)
  return {
    body: {
      board_id: boardId,
      cards: await showImages(context, account, shown),
      total: past.total,
      as_of: presentMoment(past),
      ...pageEnd(page, past.total - page.offset),
    },
  }
}
