/** The first page of a guest link: asks for a name, and for the password if there is one. */
import { useState, type ReactNode } from 'react'
import { Field, Form, written } from '../controls/form.tsx'
import { Refused } from '../service/api.ts'
import { openGuestLink } from '../service/guest.ts'

const forbidden = 403

export default function Welcome({ open }: { open(boardId: string): void }): ReactNode {
  const [name, setName] = useState('')
  const [hasPassword, setHasPassword] = useState(false)
  const send = async (values: FormData) => {
    setName(written(values, 'name') ?? '')
    const password = values.get('password')
    try {
      const given = { token: location.hash.slice(1), name: written(values, 'name') ?? '' }
      open(await openGuestLink(typeof password === 'string' ? { ...given, password } : given))
    } catch (error) {
      // The first time, the person could not know that there is a password.
      const isNews = error instanceof Refused && error.status === forbidden && !hasPassword
      if (!isNews) throw error
      setHasPassword(true)
    }
  }
  return (
    <main className="welcome">
      <img src="/icon.svg" alt="" width="40" height="40" />
      <h1>You are invited to a board</h1>
      <Form label="Open the board" submit="Open the board" send={send}>
        <Field
          label="Your name"
          name="name"
          note="Others on the board see it."
          maxLength={100}
          defaultValue={name}
          autoComplete="name"
          required
          autoFocus
        />
        {hasPassword && (
          <Field
            label="Password"
            name="password"
            type="password"
            note="This link has a password. Ask the people who sent it."
            required
            autoFocus
          />
        )}
      </Form>
    </main>
  )
}
