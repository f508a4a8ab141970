/** The side of the page. It is loaded after the first board, reads what the panels share, and keeps it up to date. */
import { useEffect, type ReactNode } from 'react'
import { BoardList } from './board-list.tsx'
import type { Shared } from './desk.ts'
import { PeopleContext } from './people-here.tsx'
import { useLive } from './use-live.ts'
import { useNotifications } from './use-notifications.ts'
import { usePlaces } from './use-places.ts'

/** @param share takes what the rest of the app sees of it */
export function Side({ share }: { share(shared: Shared): void }): ReactNode {
  const lists = usePlaces()
  const { places, fault, reload } = lists
  const notifications = useNotifications()
  const people = useLive(lists, notifications)
  useEffect(() => share({ places, reload, notifications }), [share, places, reload, notifications])
  return (
    <PeopleContext value={people}>
      <BoardList {...{ fault, reload }} />
    </PeopleContext>
  )
}
