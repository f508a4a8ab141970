/** The fields of a webhook that a write may carry. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { eventTypes, everyEvent, isEventType } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { ApiContext } from '../http/route.ts'

export const webhookUrl = Type.String({
  format: 'uri',
  maxLength: limits.webhooks.url,
  description: `Where events are posted to: a public https URL on the default port, at most ${limits.webhooks.url} characters.`,
})

export const webhookName = Type.String({
  maxLength: limits.name,
  description: `A name to recognise it by, at most ${limits.name} characters.`,
})

export const eventNames = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 100,
  description: `The events to subscribe to: ${eventTypes.join(', ')}. Or \`*\` alone for all of them, and for those that are added later.`,
})

/** Each name once. @throws ServiceError `bad_request` that names those that are accepted */
export function requireEvents(given: string[]): string[] {
  const names = [...new Set(given)]
  if (names.length === 1 && names[0] === everyEvent) return names
  const unknown = names.find((name) => !isEventType(name))
  if (unknown === undefined) return names
  throw new ServiceError(
    'bad_request',
    unknown === everyEvent
      ? `events: \`${everyEvent}\` stands alone, it takes in all others.`
      : `events: ${JSON.stringify(unknown.slice(0, 100))} is no event. It takes ${eventTypes.join(', ')}, or \`${everyEvent}\` alone.`,
  )
}

/** @throws ServiceError `bad_request` that says what is wrong */
export async function requireUrl({ checkUrl }: ApiContext, url: string): Promise<void> {
  const fault = await checkUrl(url)
  if (fault) throw new ServiceError('bad_request', `url ${fault}.`)
}
