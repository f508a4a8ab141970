import { createHmac } from 'node:crypto'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { eventTypes } from '../../../core/events.ts'
import { AccountError } from '../../../sql/accounts/accounts.ts'
import { answer } from '../answer.ts'
import { examples, parseId } from '../options.ts'
import { deliverEvent } from './deliver-event.ts'
import { followEvents } from './follow-events.ts'

interface ListenOptions {
  url: string
  forwardTo: string
  workspace?: string
  board?: string
  type?: string
}

export function listenCommand(program: Command): void {
  program
    .command('listen')
    .summary('delivers events to a program on this machine, as a webhook does')
    .description(
      'Delivers the events of a service to a program on this machine, which no webhook can reach. CORKBOARD_TOKEN has the\n' +
        'token. Bodies, headers and signature are those of webhooks. The first line has the secret, which is the same each\n' +
        'time for a token. Each attempt is a line. It reconnects by itself, and misses nothing; Ctrl-C ends it:\n' +
        '{"listening_to","forward_to","secret"} {"event","delivery","attempt","status","duration_ms"}',
    )
    .addOption(new Option('--url <url>', 'of the service').argParser(parseUrl).makeOptionMandatory())
    .addOption(
      new Option('--forward-to <url>', 'where each event is posted')
        .argParser(parseUrl)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--workspace <workspace-id>', 'only events of this workspace').argParser(parseId))
    .addOption(new Option('--board <board-id>', 'only events of this board').argParser(parseId))
    .addOption(new Option('--type <types>', `comma-separated list of ${eventTypes.join(', ')}`))
    .addHelpText(
      ...examples('listen --url https://corkboard.example.com --forward-to http://localhost:3000/hook'),
    )
    .action(listen)
}

async function listen({ url, forwardTo, ...filter }: ListenOptions): Promise<void> {
  const token = process.env['CORKBOARD_TOKEN']
  if (!token) throw new AccountError('Set CORKBOARD_TOKEN to a token of the account whose events you want.')
  const stream = new URL(`${url.replace(/\/$/, '')}/api/v1/events`)
  for (const [name, value] of Object.entries(filter)) stream.searchParams.set(name, value as string)
  const secret = `whsec_${createHmac('sha256', token).update('corkboard listen').digest('base64')}`
  answer({ listening_to: stream.href, forward_to: forwardTo, secret })
  await followEvents({
    url: stream.href,
    token,
    lost: (reason) => process.stderr.write(`corkboard: ${reason} Connecting again.\n`),
    async handle(event) {
      if (event.type === 'reset')
        process.stderr.write('corkboard: Events were missed: this stream was away for too long.\n')
      else
        await deliverEvent(event, {
          ...{ url: forwardTo, secret },
          tried: (attempt) => answer({ event: event.type, delivery: event.id, ...attempt }),
        })
    },
  })
}

function parseUrl(text: string): string {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Use a URL that begins with http:// or https://.')
  return text
}
