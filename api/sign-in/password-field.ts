import { limits } from '../../core/limits.ts'
import { html, type Html } from './html.ts'

const { min } = limits.signIn.password

export const newPasswordField = (name: string): Html =>
  html`<label
    >New password, at least ${min} characters
    <input
      name="${name}"
      type="password"
      autocomplete="new-password"
      required
      minlength="${min}"
      maxlength="4000"
  /></label>`
