import { html, type Html } from '../sign-in/html.ts'

/** What stands above a column, and what in it. */
export interface Column<Row> {
  head: string
  cell(row: Row): Html | string
}

export const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html =>
  html`<table>
    <thead>
      <tr>
        ${columns.map(({ head }) => html`<th>${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map(({ cell }) => html`<td>${cell(row)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`

/** A button that sends what its row is known by. */
export interface RowAction {
  path: string
  field: string
  label: string
  look: 'bad' | 'plain'
}

export const rowAction = ({ path, field, label, look }: RowAction, csrf: Html, value: string): Html =>
  html`<form method="post" action="${path}">
    ${csrf}<input type="hidden" name="${field}" value="${value}" />
    <button class="${look}">${label}</button>
  </form>`
