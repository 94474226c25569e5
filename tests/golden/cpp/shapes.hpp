// Shapes, and the drawings they are put into.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define SHAPES_API __attribute__((visibility("default")))
#define SHAPES_CHECK(condition)                                \
    do {                                                       \
        if (!(condition)) throw std::logic_error(#condition);  \
    } while (false)

namespace shapes {

inline constexpr double pi = 3.14159265358979;

/// Anything that can be added up.
template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

template <Number T>
struct Point {
    T x{};
    T y{};

    constexpr Point() = default;
    constexpr Point(T x_, T y_) : x(x_), y(y_) {}

    constexpr Point operator+(const Point& other) const { return {x + other.x, y + other.y}; }
    constexpr Point operator-(const Point& other) const { return {x - other.x, y - other.y}; }
    constexpr bool operator==(const Point&) const = default;
    template <Number U>
    constexpr explicit operator Point<U>() const
    {
        return {static_cast<U>(x), static_cast<U>(y)};
    }

    friend std::ostream& operator<<(std::ostream& out, const Point& point)
    {
        return out << '(' << point.x << ", " << point.y << ')';
    }
};

using Spot = Point<double>;
typedef std::vector<Spot> Path;

enum class Fill : unsigned char {
    None,
    Solid,
    Hatched,
};

enum Corner { TopLeft, TopRight, BottomRight, BottomLeft };

union Word {
    float real;
    unsigned bits;
};

namespace detail {
template <typename T>
struct Hash {
    std::size_t operator()(const T& value) const;
};

template <>
struct Hash<int> {
    std::size_t operator()(int value) const { return static_cast<std::size_t>(value) * 2654435761u; }
};

template <typename T>
struct Hash<T*> {
    std::size_t operator()(T* value) const { return reinterpret_cast<std::size_t>(value) >> 4; }
};
}  // namespace detail

inline namespace v2 {

/// What every shape can do.
class SHAPES_API Shape {
public:
    Shape() = default;
    explicit Shape(std::string name) : name_(std::move(name)), fill_{Fill::None} {}
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape&) = delete;
    virtual ~Shape();

    /// The area in square units.
    virtual double area() const = 0;
    [[nodiscard]] virtual Spot centre() const noexcept = 0;
    virtual void move(double x, double y);
    void move(const Spot& by);

    const std::string& name() const noexcept { return name_; }
    std::string& name() { return name_; }
    explicit operator bool() const { return area() > 0; }

    static int made();

protected:
    /// How a shape remembers where it has been.
    struct Step {
        Spot from, to;
        int number = 0;

        Step(Spot from_, Spot to_);
        class Timer {
        public:
            double seconds() const;
        };
    };

    std::vector<Step> steps_;

private:
    std::string name_;
    Fill fill_ = Fill::Solid;
    static inline int made_ = 0;
    std::function<void(int)> on_change_ = [](int step) {
        if (step > 100) {
            throw std::runtime_error("too many steps");
        }
    };
};

class Circle final : public Shape {
public:
    Circle(Spot centre, double radius);
    ~Circle() override;

    double area() const override;
    Spot centre() const noexcept override;
    constexpr double radius() const { return radius_; }

private:
    Spot centre_;
    double radius_;
};

class Polygon : public Shape, protected std::enable_shared_from_this<Polygon>, private detail::Hash<int> {
public:
    explicit Polygon(Path corners);
    template <typename Iterator>
    Polygon(Iterator first, Iterator last);

    double area() const override;
    Spot centre() const noexcept override;
    Spot& operator[](std::size_t at);
    const Spot& operator[](std::size_t at) const;
    Polygon& operator+=(const Spot& corner);
    template <typename F>
    void each(F&& visit) const
    {
        for (const auto& corner : corners_) {
            visit(corner);
        }
    }

private:
    Path corners_;
};

}  // namespace v2

template <typename T, std::size_t N>
class Ring {
public:
    using value_type = T;
    void push(T value);
    T pop();
    bool empty() const { return count_ == 0; }

private:
    T items_[N];
    std::size_t first_ = 0, count_ = 0;
};

template <typename T, std::size_t N>
void Ring<T, N>::push(T value)
{
    SHAPES_CHECK(count_ < N);
    items_[(first_ + count_++) % N] = std::move(value);
}

template <typename T, std::size_t N>
T Ring<T, N>::pop()
{
    SHAPES_CHECK(count_ > 0);
    T value = std::move(items_[first_]);
    first_ = (first_ + 1) % N;
    --count_;
    return value;
}

template <typename... Parts>
double total_area(const Parts&... parts)
{
    return (parts.area() + ... + 0.0);
}

template <typename T>
requires Number<T>
T square(T value)
{
    return value * value;
}

template <>
double square<double>(double value);

consteval int cube(int value) { return value * value * value; }

double distance(const Spot& a, const Spot& b);
double distance(const Spot& a, const Shape& b);

constexpr long double operator""_mm(long double value) { return value / 1000; }

}  // namespace shapes

extern "C" {
int shapes_version(void);
double shapes_area(const void* shape);
}

extern "C" SHAPES_API int shapes_made(void);
