/** Forms: one request at a time, and a refusal is shown at the field that it names. */
import {
  createContext,
  useContext,
  useId,
  useRef,
  useState,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
} from 'react'
import { faultOf } from '../service/request.ts'

interface Fault {
  /** Null: the message names none of the form's fields. */
  field: string | null
  says: string
}

const FaultContext = createContext<Fault | null>(null)

interface FormProps {
  /** The form's name, for screen readers. */
  label: string
  /** What the button says. */
  submit: string
  send(values: FormData): Promise<unknown>
  /** Leaves the form without sending. */
  cancel?: () => void
  children: ReactNode
}

export function Form({ label, submit, send, cancel, children }: FormProps): ReactNode {
  const [fault, setFault] = useState<Fault | null>(null)
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const fields = [...form.current!.elements] as HTMLInputElement[]
    try {
      await send(new FormData(form.current!))
      setFault(null)
      form.current?.reset()
    } catch (error) {
      const says = faultOf(error)
      const field = fields.find(({ name }) => name !== '' && names(says, name))
      setFault({ field: field?.name ?? null, says: field ? says.replace(`${field.name}: `, '') : says })
      field?.focus()
    } finally {
      setBusy(false)
    }
  }
  return (
    <FaultContext value={fault}>
      <form ref={form} className="form-fields" aria-label={label} onSubmit={(event) => void onSubmit(event)}>
        {children}
        {fault?.field === null && (
          <p className="fault" role="alert">
            {fault.says}
          </p>
        )}
        <div className="button-row">
          {/* The focus would leave a button that is disabled. */}
          <button type="submit" className="main" aria-disabled={isBusy}>
            {submit}
          </button>
          {cancel && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
        </div>
      </form>
    </FaultContext>
  )
}

/** Messages of the API begin with the field that they are about. */
const names = (says: string, field: string) =>
  says.startsWith(field) && /^[\s:/]/.test(says.slice(field.length))

interface AboutField {
  label: string
  name: string
  note?: ReactNode
}

function useField(name: string, note: ReactNode) {
  const [id, fault] = [useId(), useContext(FaultContext)]
  const isWrong = fault?.field === name
  const described = [...(note === undefined ? [] : [`${id}-note`]), ...(isWrong ? [`${id}-fault`] : [])]
  return {
    id,
    field: { id, name, 'aria-invalid': isWrong, 'aria-describedby': described.join(' ') || undefined },
    below: (
      <>
        {note !== undefined && (
          <p id={`${id}-note`} className="quiet">
            {note}
          </p>
        )}
        {isWrong && (
          <p id={`${id}-fault`} className="fault" role="alert">
            {fault.says}
          </p>
        )}
      </>
    ),
  }
}

type InputProps = AboutField & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>

export function Field({ label, name, note, ...input }: InputProps): ReactNode {
  const { id, field, below } = useField(name, note)
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input {...input} {...field} />
      {below}
    </div>
  )
}

export function Check({ label, name, note, ...input }: InputProps): ReactNode {
  const { id, field, below } = useField(name, note)
  return (
    <div className="check">
      <input type="checkbox" {...input} {...field} />
      <label htmlFor={id}>{label}</label>
      {below}
    </div>
  )
}

type ChoiceProps = AboutField &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'name'> & { options: Readonly<Record<string, string>> }

export function Choice({ label, name, note, options, ...select }: ChoiceProps): ReactNode {
  const { id, field, below } = useField(name, note)
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select {...select} {...field}>
        {Object.entries(options).map(([value, says]) => (
          <option key={value} value={value}>
            {says}
          </option>
        ))}
      </select>
      {below}
    </div>
  )
}

/** What is wrong with a group of fields that have one name. */
export function FaultOf({ name }: { name: string }): ReactNode {
  const fault = useContext(FaultContext)
  return (
    fault?.field === name && (
      <p className="fault" role="alert">
        {fault.says}
      </p>
    )
  )
}

/** What somebody has written into a field, without spaces at both ends. Undefined when it is empty. */
export function written(values: FormData, name: string): string | undefined {
  const value = values.get(name)
  return (typeof value === 'string' && value.trim()) || undefined
}
