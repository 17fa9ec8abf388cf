export { createGateway, type Gateway, type GatewayOptions } from './library/gateway.ts';
export type { Logger } from './library/logger.ts';
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
