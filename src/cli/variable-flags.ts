// --vars: values for the variables that eider.yml declares.

import { Flags } from '@oclif/core'

export const variableFlags = {
  vars: Flags.string({
    summary: 'Another value for a variable of eider.yml, as name=value; may be given several times',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME=VALUE',
  }),
}
