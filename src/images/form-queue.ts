import { Injectable } from '@nestjs/common';
import { FairQueue } from '../common/fair-queue.js';

const MIB = 1024 * 1024;
/** Five images of 5 MiB, 50 texts of 64 KiB, and the headers of the parts. nginx has the same limit. */
export const MAX_FORM_BYTES = 29 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
export const FORM_OVERHEAD_BYTES = 8 * MIB;
/** Memory budget for all forms that are being processed: one form of the maximum length, or four small forms. */
const MEMORY_BYTES = MAX_FORM_BYTES + FORM_OVERHEAD_BYTES;

/** Queue in which a form waits until enough of the memory budget is free. The size of a task is the memory of its form. */
@Injectable()
export class FormQueue extends FairQueue {
  constructor() {
    super({ capacity: MEMORY_BYTES });
  }
}
