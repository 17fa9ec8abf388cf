import type { Pair, Ticker } from '../../domain/market.ts';
import type { PoolPair } from '../../domain/pool-pair.ts';
import { builder } from '../builder.ts';

// The types whose fields return each other. Each has its fields in a file of its own.

export const PairRef = builder.objectRef<Pair>('Pair');

export const PoolPairRef = builder.objectRef<PoolPair>('PoolPair');

export const TickerRef = builder.objectRef<Ticker>('Ticker');
