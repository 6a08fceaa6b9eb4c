/* SPDX-License-Identifier: MIT */
/*
 * The texts of atl_perf in other languages: a separate module, which can be replaced alone. The
 * module may have languages that are not installed (here Dutch), may lack installed languages, and
 * may lack texts. -DATL_PERF_TEXTS=n builds the module with fewer languages: 1 without Russian, 2
 * Russian alone, 3 nothing.
 */
#include "../perfmap.h"

#ifndef ATL_PERF_TEXTS
#define ATL_PERF_TEXTS 0
#endif

EXPORT const PerfText *perfTexts(void);

/* clang-format off */
static const PerfText texts[] = {
#if ATL_PERF_TEXTS < 2
    {TEXT("007"), 0, TEXT("Perf-Tabelle"), TEXT("Was ein Anbieter von denen sieht, die ihn fragen.")},
    {TEXT("007"), 1, TEXT("Fragen"), TEXT("Wie oft er nach irgendetwas gefragt wurde.")},
    {TEXT("007"), 2, TEXT("Fragen/s"), TEXT("Wie oft er in einer Sekunde nach irgendetwas gefragt wurde.")},
    {TEXT("007"), 3, TEXT("Antworten"), TEXT("Mit wie vielen Objekten er antwortete.")},
    {TEXT("007"), 4, TEXT("Geantwortete Bytes"), NULL},
    {TEXT("007"), 6, TEXT("Perf-Gekritzel"), TEXT("Zeilen (Striche) und Zeichen (Punkte), die atl_perf scribble liest.")},
    {TEXT("007"), 7, TEXT("Striche"), TEXT("Wie viele Striche gezogen wurden.")},
    {TEXT("013"), 0, TEXT("Perf-tabel"), NULL},
#endif
#if ATL_PERF_TEXTS == 0 || ATL_PERF_TEXTS == 2
    {TEXT("019"), 0, TEXT("Таблица счётчиков"), TEXT("Что поставщик видит о тех, кто его спрашивает.")},
    {TEXT("019"), 1, TEXT("Вопросы"), TEXT("Сколько раз его о чём-либо спросили.")},
    {TEXT("019"), 2, TEXT("Вопросов в секунду"), TEXT("Сколько раз в секунду его о чём-либо спросили.")},
    {TEXT("019"), 3, TEXT("Ответы"), TEXT("Сколькими объектами он ответил.")},
    {TEXT("019"), 4, TEXT("Отвечено байт"), TEXT("Сколько байт он ответил.")},
    {TEXT("019"), 5, TEXT("Предложено байт"), TEXT("Сколько места ему предложили в последний раз.")},
    {TEXT("019"), 6, TEXT("Каракули"), TEXT("Строки (штрихи) и символы (точки), которые читает atl_perf scribble.")},
    {TEXT("019"), 7, TEXT("Штрихи"), TEXT("Сколько штрихов проведено.")},
    {TEXT("019"), 8, TEXT("Точки"), TEXT("Сколько точек во всех штрихах.")},
    {TEXT("019"), 9, TEXT("Точек в секунду"), TEXT("Сколько точек рисуется в секунду.")},
#endif
    {NULL, 0, NULL, NULL},
};
/* clang-format on */

const PerfText *perfTexts(void)
{
    return texts;
}
