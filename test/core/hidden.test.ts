import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hide } from '../../src/core/hidden.ts'

const shown = '${KEY}'

test('a value is hidden wherever it stands, the longer one of two that overlap first', () => {
  const hidden = [
    { value: 'hush-hush', shown },
    { value: 'postgres://me:hush-hush@db/shop', shown: '${URL}' },
  ]
  assert.is(hide('at postgres://me:hush-hush@db/shop: no', hidden), 'at ${URL}: no')
  assert.is(hide('xhush-hushx', hidden), 'x${KEY}x')
})

test('a short value is hidden as a word, and signs of patterns mean themselves', () => {
  assert.is(hide('at eu: neutral (eu)', [{ value: 'eu', shown }]), 'at ${KEY}: neutral (${KEY})')
  assert.is(hide('a.b$&c axb', [{ value: 'a.b$&c', shown }]), '${KEY} axb')
  assert.is(hide('nothing', [{ value: '', shown }]), 'nothing')
})

test.run()
