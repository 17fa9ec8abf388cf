import './scalars.ts';
import './types/beacon-height.ts';
import './types/best-block.ts';
import './types/chain-info.ts';
import './types/head.ts';
import './types/node.ts';
import './types/order-book.ts';
import './types/pair.ts';
import './types/pool-pair.ts';
import './types/pool-pair-connection.ts';
import './types/price-update.ts';
import './types/service.ts';
import './types/ticker.ts';
import './types/token.ts';
import './types/validation-data.ts';
import { throwBadInputWhereItIsUsed } from './bad-input.ts';
import { builder } from './builder.ts';

/** The schema that clients are promised. */
export const schema = throwBadInputWhereItIsUsed(builder.toSchema());
