// Loaded by `node --import`: the process gets the code of eider with the fault of that name (faults.ts).
//
//   EIDER_SIMULATION_FAULT=<name>

import { register } from 'node:module'
import { faults } from './faults.ts'

const name = process.env['EIDER_SIMULATION_FAULT'] ?? ''
const fault = faults[name]
if (fault === undefined) throw new Error(`there is no fault ${name}`)
const { file, sound, faulty } = fault
const url = new URL('./simulate.js', import.meta.url).href
const change = { url, file: `src/${file}`, sound, faulty }
register(new URL('./change-source.js', import.meta.url), { data: change })
