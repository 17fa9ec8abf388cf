export { createGateway, type Gateway, type GatewayOptions, type Logger } from './library/gateway.ts';
export {
  createSandbox,
  type MarketDataCall,
  type NodeCall,
  type PushCall,
  type Sandbox,
  type SandboxOptions,
  type TokenCall,
} from './library/sandbox.ts';
export type { SettingOptions } from './library/setting-options.ts';
export type {
  Faults,
  FaultTarget,
  HttpFault,
  MarketDataFault,
  NodeFault,
  PushFault,
  TokenServiceFault,
} from './sandbox/faults.ts';
export { ConfigError } from './settings/config-error.ts';
