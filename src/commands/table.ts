// Every command by its id. Short names stand beside the long ones.

import CollectDaemonCommand from './collect/daemon.ts'
import CollectStatus from './collect/status.ts'
import Init from './init.ts'
import ODataServe from './odata/serve.ts'
import PipelineRun from './pipeline/run.ts'

export const commands = {
  init: Init,
  run: PipelineRun,
  serve: ODataServe,
  'pipeline:run': PipelineRun,
  'collect:daemon': CollectDaemonCommand,
  'collect:status': CollectStatus,
  'odata:serve': ODataServe,
}
