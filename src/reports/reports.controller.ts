import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { errorCode } from '../common/errors/error-info.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { DayParams, DayView, SalesCsvQuery, SalesQuery, SalesView } from './reports.dto.js';
import { ReportsService } from './reports.service.js';

/** Codes of Node's errors for a client that closed the connection: during the download, or before it (from Node 23 on). */
const CLIENT_GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE'];

const BAD_TO = failures.validation({ to: 'to should be a date, such as 2026-11-24' });

@ApiTags('Administration')
@Controller('admin')
export class ReportsController {
  constructor(private readonly reports: ReportsService) {}

  @ApiEndpoint({
    summary: 'Return the day sheet: the quantities to make and the orders to hand out',
    description:
      'Paid orders that are not refused. An order belongs to the date of its pickup or, without a pickup time, to the ' +
      'date of its payment. A day without orders has empty lists.',
    access: 'admin',
    success: { status: 200, data: DayView },
    failures: [failures.validation({ date: 'date should be a date, such as 2026-11-24' })],
  })
  @Get('days/:date')
  day(@Param() { date }: DayParams): Promise<DayView> {
    return this.reports.buildDaySheet(date);
  }

  @ApiEndpoint({
    summary: 'Return the sales by day and by product',
    description:
      'An order counts on the date of its first payment, unless it was refunded in full. A partial refund reduces the ' +
      'revenue of the day and the total, but not that of the products.',
    access: 'admin',
    success: { status: 200, data: SalesView },
    failures: [BAD_TO],
  })
  @Get('sales')
  sales(@Query() query: SalesQuery): Promise<SalesView> {
    return this.reports.sumSales(query);
  }

  @ApiEndpoint({
    summary: 'Download the sold items as a CSV file',
    description:
      '`refunded` is on the first line of an order. With `format=excel`, the file is for Excel as it is set up in Indonesia. ' +
      'If the service fails in the middle of the download, the service closes the connection, so that clients detect the ' +
      'incomplete file. A text that a spreadsheet would run as a formula begins with an apostrophe.',
    access: 'admin',
    success: { status: 200, mediaTypes: ['text/csv'] },
    etag: 'none',
    failures: [BAD_TO, failures.validation({ format: 'format should be excel' })],
  })
  @Get('sales.csv')
  async salesCsv(@Query() query: SalesCsvQuery, @Res() response: Response): Promise<void> {
    const csv = await this.reports.streamCsv(query);
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', `attachment; filename="sales-${query.from}-${query.to}.csv"`);
    try {
      await pipeline(Readable.from(csv), response);
    } catch (error) {
      if (!CLIENT_GONE.includes(errorCode(error) ?? '')) throw error;
    }
  }
}
