// Reads the JSON reports of Vitest. `failures REPORT` prints the files with failures, each on a line. `counts REPORT...`
// prints how many tests passed and failed. A later report replaces what an earlier one says of the same file.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [what, ...reports] = process.argv.slice(2)
const files = new Map()
for (const report of reports) {
  let results = []
  try {
    results = JSON.parse(readFileSync(report, 'utf8')).testResults
  } catch {
    // The run ended before it wrote a report, or there was none.
  }
  for (const file of results) files.set(file.name, file)
}

const count = (file, status) => file.assertionResults.filter((test) => test.status === status).length
/** A file that could not be loaded counts as one failed test. */
const failed = (file) => Math.max(count(file, 'failed'), file.status === 'failed' ? 1 : 0)
const all = [...files.values()]

if (what === 'failures')
  for (const file of all)
    if (failed(file) > 0) process.stdout.write(`${relative(process.cwd(), file.name)}\n`)
if (what === 'counts') {
  const sum = (of) => all.reduce((total, file) => total + of(file), 0)
  process.stdout.write(`${sum((file) => count(file, 'passed'))} ${sum(failed)}\n`)
}
