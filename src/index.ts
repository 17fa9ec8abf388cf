export { createGateway, type Gateway, type GatewayOptions, type Logger } from './library/gateway.ts';
export { createSandbox, type Sandbox, type SandboxOptions } from './library/sandbox.ts';
export type { SettingOptions } from './library/setting-options.ts';
export type {
  Faults,
  FaultTarget,
  HttpFault,
  MarketDataCall,
  MarketDataFault,
  MarketDataForm,
  NodeCall,
  NodeFault,
  PushCall,
  PushFault,
  TokenCall,
  TokenServiceFault,
} from './sandbox/faults.ts';
export { ConfigError } from './settings/kinds.ts';
