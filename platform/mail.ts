/** Sends mail over SMTP. */
import { createTransport } from 'nodemailer'
import { ServiceError } from '../core/errors.ts'

export interface Mail {
  to: string
  subject: string
  /** Plain text. */
  text: string
}

export interface Mailer {
  /** @throws ServiceError `upstream_rejected` when the mail server refuses the mail, `upstream_error` when it can't be reached */
  send(mail: Mail): Promise<void>
}

/** The mail server has this long for each step: to connect, to greet, and between two answers. */
const stepMs = 10_000

/** @param url of the mail server: `smtp://` or `smtps://`, with user and password. @param from the sender's address */
export function openMailer(url: string, from: string): Mailer {
  // nodemailer: SMTP has many dialects, and mail has encodings and headers that must not be injected.
  const transport = createTransport(
    { url, dnsTimeout: stepMs, connectionTimeout: stepMs, greetingTimeout: stepMs, socketTimeout: stepMs },
    { from, disableFileAccess: true, disableUrlAccess: true },
  )
  return {
    async send({ to, subject, text }) {
      try {
        // As an object, an address is never read as a list of several.
        await transport.sendMail({ to: { name: '', address: to }, subject, text })
      } catch (error) {
        const isRefused = (error as { responseCode?: number }).responseCode !== undefined
        throw new ServiceError(
          isRefused ? 'upstream_rejected' : 'upstream_error',
          isRefused
            ? 'The mail server refused the mail. Check the address, or ask the people who run this service.'
            : 'The mail server cannot be reached. Try again later.',
          { cause: error },
        )
      }
    },
  }
}
