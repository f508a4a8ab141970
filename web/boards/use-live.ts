/** Tells the lists what others do to boards, and where they are, over a socket. */
import { useEffect, useState } from 'react'
import { openLive, type Message } from '../../client/editor/index.ts'
import type { Notification } from '../service/notifications.ts'
import { nobody, type PeopleByBoard } from './people-here.tsx'
import type { Notifications } from './use-notifications.ts'
import type { LivePlaces } from './use-places.ts'

/** @returns how many people have each board open */
export function useLive(
  { reload, told }: LivePlaces,
  { add, reload: readAnew }: Notifications,
): PeopleByBoard {
  const [people, setPeople] = useState(nobody)
  useEffect(() => {
    const live = openLive({
      url: location.origin,
      name: 'account',
      token: () => '', // a page of the service opens sockets by its session
      onReset: () => void reload(),
      onEvent: told,
      onPeople: setPeople,
      onMessage({ type, notification }: Message) {
        if (type === 'notification') add(notification as Notification)
      },
    })
    // A notification is sent once, to those who are connected.
    let isOpen = true
    const end = live.status.subscribe(() => {
      const wasOpen = isOpen
      isOpen = live.status.get().connection === 'open'
      if (isOpen && !wasOpen) void readAnew()
    })
    return () => {
      end()
      live.close()
    }
  }, [reload, told, add, readAnew])
  return people
}
