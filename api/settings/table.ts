import { html, type Html } from '../sign-in/html.ts'

/** A column: its heading, and the contents of its cells. */
export interface Column<Row> {
  head: string
  cell(row: Row): Html | string
}

/** A table. On narrow screens each row is a block, and each cell shows its heading (see the style in page.ts). */
export const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html =>
  html`<table>
    <thead>
      <tr>
        ${columns.map(({ head }) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map(({ head, cell }) => html`<td data-head="${head}">${cell(row)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`

/** A link in a row to the page that asks for confirmation. */
export interface RowAction {
  path: string
  /** The parameter that names the row. */
  field: string
  label: string
}

/** @param what names the row for screen readers, which read the link without its row */
export const rowAction = ({ path, field, label }: RowAction, value: string, what: string): Html =>
  html`<a
    class="button bad"
    href="${path}?${new URLSearchParams({ [field]: value }).toString()}"
    aria-label="${label} ${what}"
    >${label}</a
  >`
