/** Fills the demo board by the API, as any other client would: a heading, notes, a picture, a link and a group. */
import { readFile } from 'node:fs/promises'
import { apiRoot } from '../api/http/root.ts'
import type { Demo } from './demo.ts'

const picture = new URL('demo-picture.webp', import.meta.url)

/** @throws Error when the service refuses a request */
export async function fillDemoBoard({ token, boardId }: Demo, url: string): Promise<void> {
  const post = async (path: string, type: string, body: string | Buffer<ArrayBuffer>) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type }
    const answer = await fetch(`${url}${apiRoot}${path}`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`The demo board could not be filled: ${await answer.text()}`)
    return (await answer.json()) as { image_key: string; group: { id: string } }
  }
  const json = (path: string, body: object) =>
    post(`/boards/${boardId}${path}`, 'application/json', JSON.stringify(body))
  const { image_key } = await post(`/uploads?board=${boardId}`, 'image/webp', await readFile(picture))
  const { group } = await json('/groups', { name: 'Launch', color: '#7aa2f7' })
  await json('/cards', { cards: cards({ url, imageKey: image_key, groupId: group.id }) })
}

const cards = ({ url, imageKey, groupId }: { url: string; imageKey: string; groupId: string }) => [
  {
    ...{ kind: 'note', section_header: true, x: 0, y: 0, w: 1200, h: 96 },
    title: 'Welcome to Corkboard',
    sub: 'People edit this board together. Programs and agents write to it through an API.',
  },
  {
    ...{ kind: 'note', color: '#ffd966', x: 0, y: 128, w: 280, h: 232 },
    title: 'Try it',
    body: 'Double-click an empty place to write a card.\n\n- **Drag** a card to move it\n- **Double-click** a card to edit it\n- **Ctrl-Z** takes back what you did',
  },
  {
    ...{ kind: 'note', color: '#93c47d', x: 304, y: 128, w: 280, h: 232 },
    title: 'Open a second window',
    body: 'Open the address of this page in another window, side by side.\n\nMove a card, or type in one: the other window shows it while you do it, and where your *cursor* is.',
  },
  {
    ...{ kind: 'note', color: '#76a5af', x: 608, y: 128, w: 280, h: 232 },
    title: 'Post a card',
    body: 'Paste the `curl` that the start has printed into a terminal.\n\nThe card is here before the answer arrives:\n\n> `"live": true`',
  },
  {
    kind: 'image',
    image_key: imageKey,
    title: 'A picture',
    alt: 'A lake between mountains at sunset',
    x: 912,
    y: 128,
    w: 288,
    h: 232,
  },
  {
    ...launch(0, '#f4b6c2'),
    title: 'Before',
    body: '- Invite the team\n- Import the old board',
    group_id: groupId,
  },
  {
    ...launch(1, '#f9cb9c'),
    title: 'On the day',
    body: '- Publish the schedule\n- Watch the feed',
    group_id: groupId,
  },
  { ...launch(2, '#b4a7d6'), title: 'After', body: '- Export\n- Thank everybody', group_id: groupId },
  {
    ...{ kind: 'link', x: 912, y: 428, w: 288, h: 132, url: `${url}/docs` },
    title: 'API reference',
    body: 'All operations, with a form to try each of them.',
  },
]

const launch = (n: number, color: string) => ({
  kind: 'note',
  color,
  x: 24 + n * 284,
  y: 428,
  w: 264,
  h: 132,
})
