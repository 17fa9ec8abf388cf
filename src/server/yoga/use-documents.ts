import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Admission } from '../operations/admission.ts';
import type { Documents } from '../operations/documents.ts';

/** What is read of an operation before it goes through Yoga's pipeline, in its context. */
type ReadContext = { readDocument?: DocumentNode };

/**
 * Charges for documents and reads them, in the place of Yoga's own parsing and validation: those cannot let others have a turn.
 *
 * What comes here was not read before: over HTTP an operation that Yoga answers by itself.
 */
export function useDocuments(documents: Documents, admission: Admission): Plugin<ReadContext> {
  return {
    async onParams({ params: { query }, context, setResult }) {
      // What is no text is refused further on.
      if (typeof query !== 'string') return;
      admission.chargeDocument(context, query);
      const { document, errors } = await documents.read(query);
      if (document === undefined) {
        admission.chargeErrors(context, errors.length);
        setResult(new WrittenResult(undefined, errors));
      } else {
        Object.assign(context, { readDocument: document });
      }
    },
    onParse({ context: { readDocument }, setParsedDocument }) {
      if (readDocument !== undefined) setParsedDocument(readDocument);
    },
    onValidate({ context: { readDocument }, params, setResult }) {
      if (params.documentAST === readDocument) setResult([]);
    },
  };
}
