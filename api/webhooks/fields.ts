/** The fields of a webhook that a write may carry. */
import Type from 'typebox'
import { listOf, text } from '../http/vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import { eventTypes, everyEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { ApiContext } from '../http/route.ts'

export const webhookUrl = text(
  `The URL to post events to: a public https URL on the default port, at most ${limits.webhooks.url} characters.`,
  { format: 'uri', maxLength: limits.webhooks.url },
)

export const webhookName = text(`Name of the webhook, for people. At most ${limits.name} characters.`, {
  maxLength: limits.name,
})

export const eventNames = listOf(
  Type.String(),
  100,
  `The events to subscribe to: ${eventTypes.join(', ')}. Or \`*\` alone for all events, including events added later.`,
)

/** The names without duplicates. @throws ServiceError `bad_request`: names the accepted events */
export function requireEvents(given: string[]): string[] {
  const names = [...new Set(given)]
  if (names.length === 1 && names[0] === everyEvent) return names
  const unknown = names.find((name) => !eventTypes.includes(name))
  if (unknown === undefined) return names
  throw badRequest(
    unknown === everyEvent
      ? `events: \`${everyEvent}\` must be the only entry. It includes all events.`
      : `events: ${JSON.stringify(unknown.slice(0, 100))} is not an event. Accepted are ${eventTypes.join(', ')}, or \`${everyEvent}\` alone.`,
  )
}

/** @throws ServiceError `bad_request`: says why the URL is refused */
export async function requireUrl({ checkUrl }: ApiContext, url: string): Promise<void> {
  const fault = await checkUrl(url)
  if (fault) throw badRequest(`url ${fault}.`)
}
