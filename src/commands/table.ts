// Every command by its id, short names included.

import Adopt from './adopt.ts'
import Client from './client.ts'
import Check from './check.ts'
import CollectDaemonCommand from './collect/daemon.ts'
import CollectStatus from './collect/status.ts'
import Contract from './contract.ts'
import Completion from './completion.ts'
import Doctor from './doctor.ts'
import Docs from './docs.ts'
import Drop from './drop.ts'
import Erase from './erase.ts'
import Explain from './explain.ts'
import Export from './export.ts'
import ExtensionInstall from './extension/install.ts'
import ExtensionList from './extension/list.ts'
import Flush from './flush.ts'
import Fmt from './fmt.ts'
import Help from './help.ts'
import Import from './import.ts'
import Init from './init.ts'
import Lsp from './lsp.ts'
import Maintain from './maintain.ts'
import Mcp from './mcp.ts'
import Move from './move.ts'
import Mv from './mv.ts'
import ODataExplain from './odata/explain.ts'
import ODataPreview from './odata/preview.ts'
import ODataServe from './odata/serve.ts'
import PipelineHistory from './pipeline/history.ts'
import PipelineLs from './pipeline/ls.ts'
import PipelinePlan from './pipeline/plan.ts'
import PipelineRun from './pipeline/run.ts'
import PipelineShow from './pipeline/show.ts'
import Publish from './publish.ts'
import Pull from './pull.ts'
import Query from './query.ts'
import Up from './up.ts'
import Restore from './restore.ts'
import Status from './status.ts'
import Token from './token.ts'
import Test from './test.ts'
import Version from './version.ts'

export const commands = {
  init: Init,
  run: PipelineRun,
  flush: Flush,
  pull: Pull,
  serve: ODataServe,
  plan: PipelinePlan,
  check: Check,
  fmt: Fmt,
  contract: Contract,
  token: Token,
  docs: Docs,
  client: Client,
  export: Export,
  import: Import,
  ls: PipelineLs,
  show: PipelineShow,
  query: Query,
  explain: Explain,
  history: PipelineHistory,
  mv: Mv,
  move: Move,
  adopt: Adopt,
  drop: Drop,
  erase: Erase,
  publish: Publish,
  restore: Restore,
  maintain: Maintain,
  lsp: Lsp,
  mcp: Mcp,
  doctor: Doctor,
  test: Test,
  status: Status,
  up: Up,
  completion: Completion,
  version: Version,
  help: Help,
  'pipeline:run': PipelineRun,
  'pipeline:plan': PipelinePlan,
  'pipeline:ls': PipelineLs,
  'pipeline:show': PipelineShow,
  'pipeline:history': PipelineHistory,
  'extension:install': ExtensionInstall,
  'extension:list': ExtensionList,
  'collect:daemon': CollectDaemonCommand,
  'collect:status': CollectStatus,
  'odata:serve': ODataServe,
  'odata:preview': ODataPreview,
  'odata:explain': ODataExplain,
}
