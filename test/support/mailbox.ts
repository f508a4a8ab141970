/** A mail server that keeps what it gets. */
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { until } from './editor.ts'

export interface ReceivedMail {
  receivers: string[]
  /** As it came, with its headers. */
  text: string
  /** Decoded. */
  body: string
}

export interface Mailbox {
  /** For `SMTP_URL`. */
  url: string
  received: ReceivedMail[]
  /** Whether it refuses all mail. */
  refuse: boolean
  /** Waits for a mail that was not returned before. */
  next(): Promise<ReceivedMail>
  close(): Promise<void>
}

export async function openMailbox(): Promise<Mailbox> {
  const received: ReceivedMail[] = []
  let returned = 0
  const mailbox: Mailbox = {
    url: '',
    received,
    refuse: false,
    async next() {
      await until(() => received.length > returned, 'a mail arrives')
      return received[returned++]!
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo(_address, _session, done) {
      done(mailbox.refuse ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null)
    },
    onData(stream, { envelope }, done) {
      const receivers = envelope.rcptTo.map(({ address }) => address)
      stream.once('end', () => done())
      void text(stream).then((mail) => received.push({ receivers, text: mail, body: bodyOf(mail) }))
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mailbox.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  return mailbox
}

function bodyOf(mail: string): string {
  const at = mail.indexOf('\r\n\r\n')
  const [head, body] = [mail.slice(0, at), mail.slice(at + 4)]
  if (/content-transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/content-transfer-encoding: quoted-printable/i.test(head)) return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
